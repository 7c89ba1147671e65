"""Link the payload of a task shader.

payload            open the payload as slots, and close it as one struct
payload_constants  read back constants as constants
"""
