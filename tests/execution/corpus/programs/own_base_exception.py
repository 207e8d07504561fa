class Odd(BaseException):
    pass


raise Odd('x')
