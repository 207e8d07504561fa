import multiprocessing
import sys


def work(queue):
    queue.put(__name__)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode)
