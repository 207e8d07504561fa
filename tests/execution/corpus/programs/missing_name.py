from numpy import no_such_name
