#!/bin/sh
# Makes the account, its folder and its right to read the settings, and starts the new program where the old one ran. A first installation
# starts nothing: flags are chosen before.
set -e
command -v systemd-sysusers >/dev/null && systemd-sysusers arbor.conf
if getent passwd arbor >/dev/null; then
	chgrp arbor /etc/arbor/arbor.yaml
	[ -d /var/lib/arbor ] || install -d -m 700 -o arbor -g arbor /var/lib/arbor
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart arbor.service
fi
