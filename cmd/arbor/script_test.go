package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
)

// instanceKey is where a script keeps its instance.
type instanceKey struct{}

// setUp returns a script its data folder, in $ARBOR_DATA, and the environment.
func setUp(env *testscript.Env, engine db.Engine) error {
	t, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("testscript has no testing.TB")
	}
	s := newInstanceIn(t, engine, filepath.Join(env.WorkDir, "data"))
	env.Vars = append(append(env.Vars, gittest.Env()...), raceOptions(), collectLess)
	env.Setenv("PATH", os.Getenv("PATH"))
	env.Setenv("ARBOR_DATA", s.data)
	if s.database != "" {
		env.Setenv("ARBOR_DATABASE", s.database)
	}
	env.Setenv("ARBOR_MIN_FREE_SPACE", "0") // the disk may be nearly full
	env.Setenv("ENGINE", engine.String())
	env.Values[instanceKey{}] = s
	env.Defer(s.finish) // while the folder is there
	return nil
}

// scriptCommands are the commands of the scripts:
//
//	serve [NAME=VALUE...] [FLAG...]
//	                         start a server on $ARBOR_DATA, where the database has
//	                         its tables; its address is $URL, without http:// $HOST
//	sigterm                  stop it; it must end with status 0
//	sigkill                  kill it
//	people LOGIN...          register users, each with a token in $token_LOGIN;
//	                         $LOGIN is the server's address with it
//	repo [-private] OWNER/NAME
//	                         make an empty repository, as exec arbor repo create
//	                         does, which is tested elsewhere
//	commit DIR FILE TEXT     commit a file in the repository DIR
//	http [-as LOGIN] [-d BODY] [-H HEADER] METHOD PATH STATUS
//	                         a request; stdout is the body, stderr the header
//	await [-as LOGIN] PATH PATTERN
//	                         ask for a path until the answer matches
//	exits STATUS PROGRAM ARG...
//	                         exec, with a certain exit status
//	tidy                     nothing of git runs, and no quarantine is left
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"serve":   scriptServe,
		"sigterm": scriptSigterm,
		"sigkill": scriptSigkill,
		"people":  scriptPeople,
		"repo":    scriptRepo,
		"commit":  scriptCommit,
		"http":    scriptHTTP,
		"exits":   scriptExits,
		"await":   scriptAwait,
		"keep":    scriptKeep,
		"tidy":    func(ts *testscript.TestScript, neg bool, args []string) { scriptInstance(ts).quiet() },
	}
}

func scriptInstance(ts *testscript.TestScript) *instance {
	s, ok := ts.Value(instanceKey{}).(*instance)
	if !ok {
		ts.Fatalf("the script has no instance")
	}
	return s
}

// tell puts the addresses of the running server into the environment.
func tell(ts *testscript.TestScript, s *instance) {
	ts.Setenv("URL", s.url)
	ts.Setenv("HOST", strings.TrimPrefix(s.url, "http://"))
	for login, token := range s.tokens {
		ts.Setenv("token_"+login, token)
		ts.Setenv(login, as(s.url, login, token))
	}
}

func scriptServe(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptInstance(ts)
	for len(args) > 0 && args[0][0] != '-' {
		s.env, args = append(s.env, args[0]), args[1:]
	}
	s.makeTables()
	err := s.tryStart(args...)
	if neg && err != nil {
		fmt.Fprintln(ts.Stderr(), err)
		return
	}
	ts.Check(err)
	tell(ts, s)
}

func scriptSigterm(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(scriptInstance(ts).tryStop())
}

func scriptSigkill(ts *testscript.TestScript, neg bool, args []string) {
	scriptInstance(ts).kill()
}

func scriptPeople(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptInstance(ts)
	s.user(args...)
	tell(ts, s)
}

func scriptRepo(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptInstance(ts)
	switch {
	case len(args) == 1:
		s.repo(args[0], "")
	case len(args) == 2 && args[0] == "-private":
		s.privateRepo(args[1], "")
	default:
		ts.Fatalf("usage: repo [-private] OWNER/NAME")
	}
}

func scriptCommit(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: commit DIR FILE TEXT")
	}
	dir, file := ts.MkAbs(args[0]), ts.MkAbs(filepath.Join(args[0], args[1]))
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	ts.Check(os.WriteFile(file, []byte(args[2]+"\n"), 0o666))
	ts.Check(ts.Exec("git", "-C", dir, "add", "--", args[1]))
	ts.Check(ts.Exec("git", "-C", dir, "commit", "-q", "-m", args[2]))
}

func scriptHTTP(ts *testscript.TestScript, neg bool, args []string) {
	var login, body string
	header := http.Header{}
	f := flag.NewFlagSet("http", flag.ContinueOnError)
	f.StringVar(&login, "as", "", "")
	f.StringVar(&body, "d", "", "")
	f.Func("H", "", func(s string) error {
		name, value, ok := strings.Cut(s, ": ")
		header.Add(name, value)
		if !ok {
			return fmt.Errorf("%q is no header", s)
		}
		return nil
	})
	ts.Check(f.Parse(args))
	if f.NArg() != 3 {
		ts.Fatalf("usage: http [-as LOGIN] [-d BODY] [-H HEADER] METHOD PATH STATUS")
	}
	status, err := strconv.Atoi(f.Arg(2))
	ts.Check(err)
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	res, text := scriptInstance(ts).do(login, f.Arg(0), f.Arg(1), header, in)
	io.WriteString(ts.Stdout(), text)
	res.Header.Write(ts.Stderr())
	if (res.StatusCode == status) == neg {
		ts.Fatalf("%s %s: status %d", f.Arg(0), f.Arg(1), res.StatusCode)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d", got)
	}
}
