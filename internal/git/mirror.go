package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"arbor/internal/errs"
	"arbor/internal/git/process"
)

// Mirror is a copy of somebody else's repository in a temporary directory, on
// its way into one of ours.
type Mirror struct {
	git   *Git
	dir   string
	refs  Refs
	pulls map[int64]SHA
}

// mirrorPrefix begins the names of their directories.
const mirrorPrefix = "mirror-"

// mirrorProtocols are how git may reach a source, regardless of the operator's configuration. All others start a
// program that the address names (ext, remote helpers) or wait for a file descriptor (fd): an address may come
// from a seed that somebody else wrote.
const mirrorProtocols = "file:git:http:https:ssh"

// IsMirror reports whether a name is one of theirs.
func IsMirror(name string) bool { return strings.HasPrefix(name, mirrorPrefix) }

// Source is where a mirror comes from.
type Source struct {
	Address       string // a path or an address
	Authorization string // header for its server; empty: the operator's own credentials
}

// environment is that of git for the source. A header is in no argument, which others on the machine could read, and
// follows no redirect.
func (s Source) environment() []string {
	env := append(os.Environ(), "GIT_ALLOW_PROTOCOL="+mirrorProtocols)
	if s.Authorization == "" {
		return env
	}
	given, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	for _, setting := range [][2]string{{"http.followRedirects", "false"},
		{"http.extraHeader", "Authorization: " + s.Authorization}, {"credential.helper", ""}} {
		n := strconv.Itoa(given)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+setting[0], "GIT_CONFIG_VALUE_"+n+"="+setting[1])
		given++
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(given), "GIT_TERMINAL_PROMPT=0")
}

// Mirror copies the repository at source into a new
// directory below parent. It is for the operator: git runs with the operator's
// own configuration and credentials, and may ask on the terminal. progress is called with the objects that
// were fetched from another machine, or indexed. Error: Invalid when source is not a readable repository.
// Call Remove after use.
func (g *Git) Mirror(
	ctx context.Context, from Source, parent string, progress func(part string, done, all int64),
) (*Mirror, error) {
	dir, err := os.MkdirTemp(parent, mirrorPrefix)
	if err != nil {
		return nil, err
	}
	m, source := &Mirror{git: g, dir: dir}, from.Address
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		if source, err = filepath.Abs(source); err != nil {
			return nil, errors.Join(err, m.Remove())
		}
	}
	cmd := exec.CommandContext(ctx, g.processes.Binary, "-c", "core.hooksPath="+os.DevNull,
		"clone", "--progress", "--mirror",
		"--template=", "--", source, dir)
	cmd.Env = from.environment()
	cmd.Stdin = os.Stdin
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // git gives a terminal its echo back
	cmd.WaitDelay = 5 * time.Second
	said := &cloneMessages{progress: progress}
	cmd.Stderr = &messageLines{each: said.read}
	err = cmd.Start()
	if err == nil {
		// A download may be as hostile as a push, so memory is bounded. Time is not: git
		// may ask for a password on the terminal.
		err = errors.Join(process.Confine(cmd.Process.Pid, process.Cage{Memory: g.options.Memory}),
			cmd.Wait())
	}
	if err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
			err = nil // git has said more than its status
		}
		err = errs.Wrap(errs.Invalid, fmt.Sprintf("cannot read a repository at %q: %s",
			withoutPassword(source), strings.TrimPrefix(said.last, "fatal: ")), err)
		return nil, errors.Join(err, m.Remove())
	}
	if err := m.readRefs(ctx); err != nil {
		return nil, errors.Join(err, m.Remove())
	}
	return m, nil
}

// withoutPassword is an address as it may be shown.
func withoutPassword(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.User == nil {
		return source
	}
	return u.Redacted()
}

// cloneMessages reads what git clone says: how far it is, and at last why it failed.
type cloneMessages struct {
	progress func(part string, done, all int64)
	last     string
}

var cloneProgress = regexp.MustCompile(`^(Receiving objects|Resolving deltas): +\d+% \((\d+)/(\d+)\)`)

func (m *cloneMessages) read(line string) {
	if at := cloneProgress.FindStringSubmatch(line); at != nil {
		done, _ := strconv.ParseInt(at[2], 10, 64)
		all, _ := strconv.ParseInt(at[3], 10, 64)
		m.progress(map[string]string{"Receiving objects": "fetch", "Resolving deltas": "index"}[at[1]], done, all)
	} else if line = strings.TrimSpace(line); line != "" {
		m.last = printable(line)
	}
}

// printable is what another server said, so that it controls no terminal.
func printable(line string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(line, "?"))
}

// Remove deletes the copy.
func (m *Mirror) Remove() error { return os.RemoveAll(m.dir) }

// PackedBytes is what the copy's packs take on disk; 0 if its objects are not packed.
func (m *Mirror) PackedBytes() int64 { return m.git.Repository(m.dir).PackedBytes() }

// Dir is the directory of the copy, a bare repository.
func (m *Mirror) Dir() string { return m.dir }

// SmallBlobs calls fn with each blob of the copy that has at most some bytes.
func (m *Mirror) SmallBlobs(ctx context.Context, most int64, fn func(data []byte) error) error {
	r := m.git.Repository(m.dir)
	all, err := r.Stored()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, 1000) {
		shas := make([]SHA, len(part))
		for n, id := range part {
			shas[n] = id.SHA()
		}
		infos, err := r.Infos(ctx, shas)
		if err != nil {
			return err
		}
		for _, o := range infos {
			if o.Type != TypeBlob || o.Size > most {
				continue
			}
			_, data, err := r.Contents(ctx, o.SHA, most)
			if err == nil {
				err = fn(data)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Refs are the mirror's own: branches, tags and notes whose names we take.
func (m *Mirror) Refs() Refs { return m.refs }

// PullHeads are the heads of pull requests, by number: refs/pull/N/head, and refs/merge-requests/N/head.
func (m *Mirror) PullHeads() map[int64]SHA { return m.pulls }

var pullHead = regexp.MustCompile(`^refs/(?:pull|merge-requests)/([1-9][0-9]{0,17})/head$`)

// readRefs reads what the mirror's refs are, and what HEAD names.
func (m *Mirror) readRefs(ctx context.Context) error {
	var list bytes.Buffer
	c := process.Command{Sub: "for-each-ref", Flags: []string{"--format=%(objectname) %(refname)"}}
	err := m.git.run(ctx, m.git.upkeepCage(), process.Task{Command: c,
		Dir: m.dir, Limit: m.git.options.ReadTimeout, Stdout: &list})
	if err != nil {
		return err
	}
	m.pulls = map[int64]SHA{}
	lines := bufio.NewScanner(&list)
	for lines.Scan() {
		name := lines.Text()
		if len(name) < 42 {
			return fmt.Errorf("git for-each-ref: %q", errs.Clip(name))
		}
		ref := Ref{SHA: SHA(name[:40]), Name: name[41:]}
		if IsCopied(ref.Name) && CheckRefName(ref.Name) == nil {
			m.refs.List = append(m.refs.List, ref)
		} else if found := pullHead.FindStringSubmatch(ref.Name); found != nil {
			number, _ := strconv.ParseInt(found[1], 10, 64)
			m.pulls[number] = ref.SHA
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	head, err := os.ReadFile(filepath.Join(m.dir, "HEAD"))
	if err != nil {
		return err
	}
	m.refs.Head, _ = strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	return nil
}

// WritePack writes one pack with all that the mirror's refs lead to. It takes no more
// memory than that needs: index-pack, which reads it, reserves its own.
func (m *Mirror) WritePack(ctx context.Context, w io.Writer) error {
	return m.git.run(ctx, m.git.Repository(m.dir).sendCage(1), process.Task{
		Command: process.Command{Sub: "pack-objects",
			Flags: []string{"-q", "--all", "--stdout", "--delta-base-offset"}},
		Dir: m.dir, Limit: m.git.options.TransferTimeout, Stdout: w})
}
