"""Link pipelines of a Vulkan program while it creates them: a Vulkan layer and its linker process.

c/          the layer itself
build       build the layer
install     register it for all programs of a user, or remove it
run         start a program with it
serve       the linker process that the layer asks
work        link one pipeline in that process
wire        requests and answers as bytes
places      the folders and files that both sides use
store       the cache of linked modules
warm        fill the cache from Fossilize archives
recorded    make a request of a recorded pipeline
libraries   link recorded pipeline libraries against frozen interfaces
log         print the log of the layer
command     read the command line
"""
