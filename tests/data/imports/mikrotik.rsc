/queue type add name=red1 kind=red red-limit=60 red-min-threshold=10 red-max-threshold=50
/queue simple add name=wan target=ether1 max-limit=10M/50M queue=red1/red1
