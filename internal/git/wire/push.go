package wire

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Command is one ref update of a push. It creates when Old is ZeroSHA,
// deletes when New is.
type Command struct {
	Name string // as sent: not yet checked by CheckRefName
	Old  object.SHA
	New  object.SHA
}

// IsCreate reports whether the command makes a ref.
func (c Command) IsCreate() bool { return c.Old == object.ZeroSHA && c.New != object.ZeroSHA }

// IsDelete reports whether the command removes a ref.
func (c Command) IsDelete() bool { return c.New == object.ZeroSHA }

// Capabilities are what a pushing client asked for.
type Capabilities struct {
	ReportStatus   bool
	ReportStatusV2 bool
	SideBand64k    bool
	Atomic         bool
	DeleteRefs     bool
	Quiet          bool
	PushOptions    bool
	Agent          string
}

// PushRequest is what a client sends before the pack.
type PushRequest struct {
	Commands     []Command // none in git's probe for credentials
	Capabilities Capabilities
	Options      []string     // push options: data, nothing more
	Shallow      []object.SHA // the commits whose parents the client lacks
}

// HasPack reports whether a pack follows: a push that only deletes has none.
func (p *PushRequest) HasPack() bool {
	for _, c := range p.Commands {
		if !c.IsDelete() {
			return true
		}
	}
	return false
}

// Bounds of what stands before a pack.
const (
	maxPushOptions = 64
	maxPushOption  = 1024 // bytes
	maxShallow     = 1000
)

// ReadPushRequest reads the commands of a push and gives the reader of its
// pack, which is positioned right behind them. The error is Malformed for what
// git would not send, TooLarge for more than maxCommands commands.
func ReadPushRequest(r io.Reader, maxCommands int) (*PushRequest, io.Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	pkts := NewPktReader(in)
	p := &PushRequest{}
	for {
		kind, line, err := pkts.Next()
		if err != nil {
			return nil, nil, MalformedEOF(err)
		}
		if kind == PktFlush {
			break
		}
		if kind != PktData {
			return nil, nil, errs.New(errs.Malformed, "unexpected pkt-line in a push")
		}
		if err := p.line(string(line), maxCommands); err != nil {
			return nil, nil, err
		}
	}
	if err := p.checkNames(); err != nil {
		return nil, nil, err
	}
	if p.Capabilities.PushOptions {
		if err := p.readOptions(pkts); err != nil {
			return nil, nil, err
		}
	}
	return p, in, nil
}

// line takes one "shallow" or command line.
func (p *PushRequest) line(line string, maxCommands int) error {
	line = strings.TrimSuffix(line, "\n")
	if rest, ok := strings.CutPrefix(line, "shallow "); ok {
		sha, err := object.ParseSHA(rest)
		if err != nil || len(p.Commands) > 0 {
			return errs.New(errs.Malformed, "bad shallow line in a push")
		}
		if len(p.Shallow) >= maxShallow {
			return errs.Newf(errs.TooLarge, "a push may name at most %d shallow commits", maxShallow)
		}
		p.Shallow = append(p.Shallow, sha)
		return nil
	}
	if len(p.Commands) == 0 {
		var capabilities string
		var ok bool
		if line, capabilities, ok = strings.Cut(line, "\x00"); ok {
			if err := p.Capabilities.parse(capabilities); err != nil {
				return err
			}
		}
	}
	command, err := parseCommand(line)
	if err != nil {
		return err
	}
	if len(p.Commands) >= maxCommands {
		return errs.Newf(errs.TooLarge, "a push may update at most %d refs", maxCommands)
	}
	p.Commands = append(p.Commands, command)
	return nil
}

// parseCommand parses "OLD NEW NAME".
func parseCommand(line string) (Command, error) {
	if len(line) < 83 || line[40] != ' ' || line[81] != ' ' || strings.ContainsAny(line, "\x00\n") {
		return Command{}, errs.New(errs.Malformed, "bad command line in a push")
	}
	from, err1 := object.ParseSHA(line[:40])
	to, err2 := object.ParseSHA(line[41:81])
	if err1 != nil || err2 != nil {
		return Command{}, errs.New(errs.Malformed, "bad object name in a push")
	}
	name := line[82:]
	if len(name) > object.MaxRefName {
		return Command{}, errs.New(errs.Malformed, "a ref name in a push is too long")
	}
	return Command{Name: name, Old: from, New: to}, nil
}

// parse takes the words behind the first command's NUL. Unknown words are
// ignored, as git does, but for those that change what follows.
func (c *Capabilities) parse(s string) error {
	for word := range strings.FieldsSeq(s) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "report-status":
			c.ReportStatus = true
		case "report-status-v2":
			c.ReportStatusV2 = true
		case "side-band-64k":
			c.SideBand64k = true
		case "atomic":
			c.Atomic = true
		case "delete-refs":
			c.DeleteRefs = true
		case "quiet":
			c.Quiet = true
		case "push-options":
			c.PushOptions = true
		case "agent":
			c.Agent = errs.Clip(value)
		case "object-format":
			if value != "sha1" {
				return errs.Newf(errs.Malformed, "object format %q is not supported", errs.Clip(value))
			}
		}
	}
	return nil
}

// checkNames refuses one ref in two commands: which of them would win?
func (p *PushRequest) checkNames() error {
	seen := make(map[string]bool, len(p.Commands))
	for _, c := range p.Commands {
		if seen[c.Name] {
			return errs.Newf(errs.Malformed, "ref %q is updated twice in one push", errs.Clip(c.Name))
		}
		seen[c.Name] = true
	}
	return nil
}

// readOptions reads the push options, up to their flush.
func (p *PushRequest) readOptions(pkts *PktReader) error {
	if len(p.Commands) == 0 {
		return nil
	}
	for {
		kind, line, err := pkts.Next()
		if err != nil {
			return MalformedEOF(err)
		}
		if kind == PktFlush {
			return nil
		}
		if kind != PktData || bytes.IndexByte(line, 0) >= 0 {
			return errs.New(errs.Malformed, "bad push option")
		}
		if len(p.Options) >= maxPushOptions || len(line) > maxPushOption {
			return errs.Newf(errs.TooLarge, "a push may have at most %d options of %d bytes", maxPushOptions,
				maxPushOption)
		}
		p.Options = append(p.Options, strings.TrimSuffix(string(line), "\n"))
	}
}
