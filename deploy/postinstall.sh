#!/bin/sh
# Makes the account, and starts the new program where the old one ran. A first installation
# starts nothing: flags are chosen before.
set -e
command -v systemd-sysusers >/dev/null && systemd-sysusers arbor.conf
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart arbor.service
fi
