#!/bin/sh
# Creates the user and its folder, lets its group read the settings, and restarts the server if it runs.
# A first installation starts nothing: the operator chooses settings first.
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
