package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// The test binary is also the program: under the name arbor, which
// testscript.Main puts on the PATH, it runs main in a process of its own.
func TestMain(m *testing.M) {
	commands := tracers()
	commands["arbor"] = func() {
		if err := bendClock(); err != nil {
			panic(err)
		}
		leash()
		os.Exit(start(os.Getenv(systemVariable)))
	}
	testscript.Main(m, commands)
}

// systemVariable names the system's file of settings to a program of a test, which has none by itself: not
// this machine's.
const systemVariable = "ARBOR_TEST_SYSTEM_SETTINGS"

// leashVariable says that file descriptor 3 is a pipe from the test process.
const leashVariable = "ARBOR_TEST_LEASH"

// leash ends a server whose test process is gone, however that ended.
func leash() {
	if os.Getenv(leashVariable) == "" {
		return
	}
	os.Unsetenv(leashVariable)
	syscall.CloseOnExec(3)
	traceable()
	pipe := os.NewFile(3, "leash")
	go func() {
		pipe.Read(make([]byte, 1))
		os.Exit(3)
	}()
}

// The stories of testdata/script, each with a server and a data folder of its
// own, on both engines. Beside testscript's own commands they have those of
// script_test.go.
func TestScripts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata/script",
			Setup:               func(env *testscript.Env) error { return setUp(env, engine) },
			Cmds:                scriptCommands(),
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
		})
	})
}
