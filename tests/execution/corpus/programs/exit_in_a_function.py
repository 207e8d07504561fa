def main():
    quit(4)


if __name__ == '__main__':
    main()
