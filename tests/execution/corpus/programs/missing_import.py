import json
import no_such_library
