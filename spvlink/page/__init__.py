"""Write one self-contained page about a link, for people with a browser.

data        the contents of the page as compact JSON
untouched   the interfaces of pipelines that stayed as they were
page        put the JSON, the stylesheet and the scripts into one HTML file
*.js        the scripts, joined in the order of ``page.SCRIPTS``; ``*.html``, ``*.css`` beside
"""
