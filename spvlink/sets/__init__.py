"""Link sets of pipelines that share modules: one version of a module serves all of them.

link_set   link the pipelines of a set
family     find the modules that pipelines share, as one chain
versions   choose a version of a module for each pipeline
shared     explain which outputs a shared module could not drop
freeze     link modules apart from each other against a frozen interface
contract   write and read a frozen interface as JSON
apart      find what an interface cannot say of the stages
stub       make a module in place of a missing stage
obedient   link one stage between stubs
joint      make one interface for several producers and consumers
"""
