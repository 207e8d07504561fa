import base64
exec(base64.b64decode('aW1wb3J0IHN5czsgc3lzLmV4aXQoMTEp'))
