import datetime
import decimal
import fractions

decimal.getcontext().prec = 9
print(decimal.Decimal(1) / 7, fractions.Fraction(3, 9), datetime.date(2024, 2, 29) + datetime.timedelta(365))
print(datetime.datetime.fromtimestamp(0), datetime.datetime.strptime("3 Mar 2021", "%d %b %Y"))
