"""One self-contained page about what was linked, for people with a browser.

data    what the page shows, as compact JSON
page    that JSON, our stylesheet and scripts in one HTML file
*.html *.css *.js    the template; the scripts are joined in the order of ``page.SCRIPTS``
"""
