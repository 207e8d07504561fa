import locale
import sys
import time

print(locale.getlocale(), locale.getpreferredencoding(), sys.getfilesystemencoding(), sys.getdefaultencoding(), sys.flags.utf8_mode)
print(locale.setlocale(locale.LC_ALL, ""), locale.localeconv()["decimal_point"], time.tzname, time.strftime("%c", time.gmtime(0)))
