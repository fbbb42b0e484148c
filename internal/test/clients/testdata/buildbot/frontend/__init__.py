# Stands in for buildbot-www, the pages of Buildbot, which Debian has no package of. Its one page is the
# configuration that the real ones read, with the user who is signed in.
from buildbot.www.plugin import Application

page = Application(__name__, "Shows who is signed in")
