package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/process"
)

// Remote is a repository on another server, whose address a user gave. git connects to the pinned addresses and to
// nothing else: it follows no redirect, asks no proxy, and looks no name up. With Connect it connects to nothing.
type Remote struct {
	// Room, if set, is asked again and again while objects come. Its error ends the fetch.
	Room func() error
	// Connect, if set, starts a service such as git-upload-pack on the other side, until ctx is done. Messages of the
	// other side for people are written to said. Functions that use the Remote return its errors. The fields below are
	// ignored.
	Connect func(ctx context.Context, service string, said io.Writer) (Stream, error)

	Address            string // http:// or https://, without a user
	Host               string // of the address, as it is written there
	Port               string
	Pinned             []netip.Addr // that the host leads to
	Username, Password string       // empty: none are sent
}

// Bounds of what a remote sends.
const (
	remoteTimeout = time.Minute // of its list of refs
	maxRefList    = 32 << 20    // bytes of that
	maxRemoteSaid = 4 << 10     // bytes of git's messages that are read
	slowTime      = "60"        // seconds in which it must send slowBytes each second
	slowBytes     = "512"
	maxRefspecs   = 200 // of one push
	fetchPart     = 4   // of git's memory, for a fetch
)

// config is that of git for the remote. Credentials are in no argument, which others on the machine could read.
func (m Remote) config() [][2]string {
	list := [][2]string{{"http.followRedirects", "false"}, {"http.proxy", ""}, {"credential.helper", ""},
		{"http.lowSpeedLimit", slowBytes}, {"http.lowSpeedTime", slowTime}, {"protocol.version", "2"},
		{"http.maxRequests", "1"}}
	list = append(list, fetchConfig()...)
	if _, err := netip.ParseAddr(m.Host); err != nil {
		pins := make([]string, len(m.Pinned))
		for n, a := range m.Pinned {
			if pins[n] = a.Unmap().String(); a.Unmap().Is6() {
				pins[n] = "[" + pins[n] + "]"
			}
		}
		list = append(list, [2]string{"http.curloptResolve", m.Host + ":" + m.Port + ":" + strings.Join(pins, ",")})
	}
	if m.Username != "" || m.Password != "" {
		list = append(list, [2]string{"http.extraHeader", "Authorization: Basic " + m.basic()})
	}
	return list
}

// fetchConfig is that of a fetch into a directory which lasts no longer.
func fetchConfig() [][2]string {
	return [][2]string{{"fetch.unpackLimit", "1"}, {"fetch.writeCommitGraph", "false"}}
}

func (m Remote) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(m.Username + ":" + m.Password))
}

// hidden is a text of the remote without the credentials that it got.
func (m Remote) hidden(text string) string {
	if m.Password == "" {
		return text
	}
	return strings.NewReplacer(m.basic(), "***", m.Password, "***").Replace(text)
}

// task returns a task that talks with the remote, and what is called once it has ended. Messages are written to said.
// Errors: those of Connect.
func (m Remote) task(
	ctx context.Context, c process.Command, dir string, said *clipped,
) (t process.Task, end func(), err error) {
	t = process.Task{Command: c, Dir: dir, Stderr: said, Nice: true}
	if m.Connect != nil {
		t.Env, t.Config = []string{"GIT_ALLOW_PROTOCOL=fd"}, fetchConfig()
		end, err = m.attach(ctx, &t, said)
		return t, end, err
	}
	t.Remote, t.Env, t.Config = m.Address, []string{"GIT_ALLOW_PROTOCOL=http:https"}, m.config()
	return t, func() {}, nil
}

// RemoteError is why a remote could not be read or written, for the administrators of the repository: what git said
// of the remote, in words of ours where these are known.
type RemoteError struct{ Reason string }

func (e *RemoteError) Error() string { return e.Reason }

// failed returns the error of a process that talked with the remote.
func (m Remote) failed(ctx context.Context, err error, said *clipped) error {
	if err == nil || ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if !process.IsExit(err) && !errs.Is(err, errs.Unavailable) {
		return err
	}
	reason := remoteReason(said.String())
	if errs.Is(err, errs.Unavailable) {
		reason = "it took too long"
	}
	return fmt.Errorf("%w (%w)", &RemoteError{reason}, err)
}

// remoteReasons are what git says, in lower case, and what that means. The first that is found counts.
var remoteReasons = [...][2]string{
	{"error: 301", redirected}, {"error: 302", redirected}, {"error: 307", redirected}, {"error: 308", redirected},
	{"error: 429", "it refuses further requests for now (429)"},
	{"authentication failed", credentials}, {"could not read username", credentials}, {"error: 401", credentials},
	{"error: 403", "it denies access (403)"},
	{"error: 404", notThere}, {"' not found", notThere}, {"repository not found", notThere},
	{"does not appear to be a git repository", notThere}, {"permission denied", denied}, {"access denied", denied},
	{"certificate", "its certificate was not accepted"},
	{"operation too slow", "it took too long"}, {"timed out", "it took too long"},
	{"connection refused", "the connection was refused"}, {"failed to connect", "the connection was refused"},
	{"no route to host", "the host could not be reached"},
	{"early eof", endedEarly}, {"unexpected disconnect", endedEarly}, {"rpc failed", endedEarly},
	{"transfer closed", endedEarly}, {"hung up unexpectedly", endedEarly}, {"empty reply", endedEarly},
	{"could not read from remote repository", endedEarly},
	{"not valid: is this a git repository", "there is no Git repository at the address"},
}

const (
	redirected  = "it redirects to another address: give the new one"
	credentials = "it wants other credentials"
	denied      = "it denies access"
	notThere    = "there is no repository at the address, or the credentials do not reach it"
	endedEarly  = "the connection ended in the middle"
)

// remoteReason returns why git could not talk with a remote.
func remoteReason(said string) string {
	lower := strings.ToLower(said)
	for _, known := range remoteReasons {
		if strings.Contains(lower, known[0]) {
			return known[1]
		}
	}
	last := ""
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			last = line[7:]
		}
	}
	switch {
	case last == "":
		return "git failed"
	case strings.HasPrefix(last, "remote error: "): // its own words may repeat the credentials that it got
		return "it refused"
	}
	return errs.Clip(printable(last))
}

// clipped keeps the end of what is written.
type clipped struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *clipped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.b.Write(p)
	if over := c.b.Len() - maxRemoteSaid; over > 0 {
		c.b.Next(over)
	}
	return len(p), nil
}

func (c *clipped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// RemoteRefs are the branches, tags and notes of a remote whose names we take.
type RemoteRefs struct {
	Refs map[string]SHA // by full name; of an annotated tag, the tag
	Head string         // the full name that HEAD leads to; empty: unknown
	Left int            // those whose names we do not take
	// Pulls are heads of pull requests, as their server calls them. Only [Git.MirrorRemote] asks for them.
	Pulls map[string]SHA
}

// ListRemote asks a remote for its branches, tags and notes, and for its HEAD. most bounds their number. Errors:
// *RemoteError, TooLarge.
func (g *Git) ListRemote(ctx context.Context, m Remote, most int) (*RemoteRefs, error) {
	return g.listRemote(ctx, m, false, most)
}

// listRemote is ListRemote, which with pulls asks for RemoteRefs.Pulls as well.
func (g *Git) listRemote(ctx context.Context, m Remote, pulls bool, most int) (*RemoteRefs, error) {
	said := &clipped{}
	// git can ask for branches and tags alone, but not for HEAD and notes as well.
	t, end, err := m.task(ctx, process.Command{Sub: "ls-remote", Flags: []string{"--symref"}}, os.TempDir(), said)
	if err != nil {
		return nil, err
	}
	defer end()
	t.Limit = remoteTimeout
	t.Env = append(t.Env, "GIT_CEILING_DIRECTORIES=/")
	p, out, err := g.read(ctx, g.remoteCage(), t)
	if err != nil {
		return nil, err
	}
	found, err := parseRemoteRefs(out, most, pulls)
	if err != nil {
		_ = p.Stop()
		return nil, err
	}
	return found, m.failed(ctx, p.Wait(), said)
}

// remoteCage is for processes that list or send refs: git, and the helper for HTTP.
func (g *Git) remoteCage() process.Cage {
	return process.Cage{Memory: g.part(blobPart, 0), Processes: 2}
}

// parseRemoteRefs reads the output of git ls-remote.
func parseRemoteRefs(out io.Reader, most int, pulls bool) (*RemoteRefs, error) {
	found := &RemoteRefs{Refs: map[string]SHA{}}
	if pulls {
		found.Pulls = map[string]SHA{}
	}
	limited := &io.LimitedReader{R: out, N: maxRefList}
	lines := bufio.NewScanner(limited)
	for lines.Scan() {
		value, name, ok := strings.Cut(lines.Text(), "\t")
		if target, symbolic := strings.CutPrefix(value, "ref: "); symbolic {
			if name == "HEAD" && strings.HasPrefix(target, Heads) && CheckOldRefName(target) == nil {
				found.Head = target
			}
			continue
		}
		if !ok || strings.HasSuffix(name, "^{}") {
			continue
		}
		into := found.Refs
		if !IsCopied(name) {
			if into = found.Pulls; into == nil || !pullHead.MatchString(name) {
				continue
			}
		}
		sha, err := ParseSHA(value)
		if err != nil || CheckRefName(name) != nil {
			found.Left++
			continue
		}
		if into[name] = sha; len(found.Refs)+len(found.Pulls) > most {
			return nil, errs.Newf(errs.TooLarge, "it has more than %d branches, tags and notes", most)
		}
	}
	if limited.N <= 0 || errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, errs.New(errs.TooLarge, "its list of refs is too large")
	}
	return found, lines.Err()
}

// PushRemote moves refs of a remote: to a SHA, or with an empty one it deletes them. The objects are the
// repository's. It returns why refs were refused, by name. Errors: *RemoteError.
func (r *Repository) PushRemote(ctx context.Context, m Remote, updates []Ref) (refused map[string]string, err error) {
	refused = map[string]string{}
	for first := 0; first < len(updates); first += maxRefspecs {
		var specs []string
		for _, u := range updates[first:min(first+maxRefspecs, len(updates))] {
			spec := ":" + u.Name
			if u.SHA != "" {
				spec = "+" + string(u.SHA) + spec
			}
			specs = append(specs, spec)
		}
		rejected, err := r.pushPart(ctx, m, specs)
		if err != nil {
			return refused, err
		}
		for name, why := range rejected {
			refused[name] = m.hidden(why)
		}
	}
	return refused, nil
}

// pushPart is PushRemote for some refspecs.
func (r *Repository) pushPart(ctx context.Context, m Remote, specs []string) (rejected map[string]string, err error) {
	said, out := &clipped{}, &bytes.Buffer{}
	t, end, err := m.task(ctx, process.Command{Sub: "push", Flags: []string{"--quiet", "--porcelain", "--no-verify"},
		Refspecs: specs}, r.dir, said)
	if err != nil {
		return nil, err
	}
	defer end()
	t.Limit, t.Stdout = r.git.options.TransferTimeout, out
	cage := r.sendCage(2)
	cage.Memory = max(cage.Memory, 2*process.MinCage) // git remote-fd has three stacks
	err = r.git.run(ctx, cage, t)
	rejected = parsePushReport(out.String())
	if err != nil && (len(rejected) == 0 || process.ExitCode(err) != 1) {
		return nil, m.failed(ctx, err, said)
	}
	return rejected, nil
}

// parsePushReport reads the refs that were refused from the output of git push --porcelain.
func parsePushReport(out string) map[string]string {
	refused := map[string]string{}
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "!\t")
		spec, why, more := strings.Cut(rest, "\t")
		_, name, named := strings.Cut(spec, ":")
		if ok && more && named {
			refused[printable(name)] = errs.Clip(printable(why))
		}
	}
	return refused
}
