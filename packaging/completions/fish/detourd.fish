# Completions of detourd(8) for fish.

complete -c detourd -f
complete -c detourd -l config -r -F -d 'Read this configuration'
complete -c detourd -l listen -x -d 'Serve on this address'
complete -c detourd -l zone -r -F -d 'An override zone'
complete -c detourd -l hosts -r -F -d 'Overrides from a hosts file'
complete -c detourd -l authoritative -x -d 'ORIGIN=FILE, a zone that owns all below'
complete -c detourd -l rpz -x -d 'ORIGIN=FILE, a response policy zone'
complete -c detourd -l upstream -x -d 'Forward to this resolver'
complete -c detourd -l upstream-anchors -r -F -d 'What upstreams over TLS must chain to'
complete -c detourd -l no-upstream -d 'Forward nothing'
complete -c detourd -l allow -x -d 'Serve clients of this network'
complete -c detourd -l workers -x -d 'Threads'
complete -c detourd -l control -r -F -d 'Make the control socket here'
complete -c detourd -l state -x -a '(__fish_complete_directories)' -d 'Keep what is set at run time'
complete -c detourd -l user -x -a '(__fish_complete_users)' -d 'Become this user'
complete -c detourd -l limit -x -d 'KEY=N, how much a client may ask for' \
    -a 'queries= burst= waiting= connections= connectionsPerClient= ipv4Prefix= ipv6Prefix='
complete -c detourd -l exempt -x -d 'Limit no client of this network'
complete -c detourd -l log-format -x -a 'text logfmt json' -d 'How a line of the log looks'
complete -c detourd -l check -d 'Say what is wrong with configuration and zones'
complete -c detourd -l version -d 'Print the version'
complete -c detourd -l help -d 'Print the options'
