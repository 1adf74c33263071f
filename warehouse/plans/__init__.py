"""Statement -> Plan -> SQL -> Result: what a question means, and how it is answered."""
