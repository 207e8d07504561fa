import asyncio


async def tick(n):
    await asyncio.sleep(0.01 * n)
    return n


async def main():
    return await asyncio.gather(*(tick(n) for n in range(4)))


print(asyncio.run(main()))
