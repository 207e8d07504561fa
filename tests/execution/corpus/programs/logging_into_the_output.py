import logging
import sys

logging.basicConfig(filename=sys.argv[1], level=logging.INFO, format="%(levelname)s %(funcName)s %(message)s")
logging.info("first")


def inner():
    logging.getLogger("x.y").warning("second %d", 2)


inner()
