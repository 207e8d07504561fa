import logging

logging.warning("at the root")
logger = logging.getLogger(__name__)
logger.setLevel("DEBUG")
logger.addHandler(logging.StreamHandler())
logger.debug("named", stack_info=True)
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("caught")
