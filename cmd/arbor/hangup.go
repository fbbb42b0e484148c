package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// outlive keeps the server running when its session ends: by SIGHUP, which operators also send to reload a
// program, or by SIGPIPE when nobody reads its log any longer. There is nothing to reload: the log is standard
// error, certificates are read again when their files change, and settings count from a start. It holds until
// the process ends. Under nohup SIGHUP stays ignored.
func outlive(log *slog.Logger) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // nobody receives it: the failed write is enough
	if signal.Ignored(syscall.SIGHUP) {
		return
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for range hangup {
			log.Info("SIGHUP changes nothing: certificates are read again when their files change, " +
				"and settings count from a start")
		}
	}()
}
