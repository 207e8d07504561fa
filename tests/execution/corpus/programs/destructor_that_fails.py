class A:
    def __del__(self):
        raise ValueError('late')


kept = A()
