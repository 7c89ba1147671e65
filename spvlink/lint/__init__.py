"""``spvlink check``: do the stages of a pipeline fit, and do they fit a device?"""
