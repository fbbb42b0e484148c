#!/bin/sh
# Stops the server when the package is removed, not when it is upgraded.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now arbor.service
fi
