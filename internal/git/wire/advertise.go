package wire

import (
	"bufio"
	"io"
	"strings"

	"arbor/internal/git/object"
)

// Ref is a ref as SQL knows it.
type Ref struct {
	Name   string // full: refs/heads/main
	SHA    object.SHA
	Peeled object.SHA // of an annotated tag what it finally names; empty otherwise
}

// Refs are the refs of a repository at one moment.
type Refs struct {
	List       []Ref  // sorted by name, bytewise
	Head       string // what HEAD names, a full name; the ref need not exist
	Generation int64  // grows with every change of the above
}

// headRef finds what HEAD names among the refs; nil for an unborn branch.
func (r Refs) headRef() *Ref {
	for i := range r.List {
		if r.List[i].Name == r.Head {
			return &r.List[i]
		}
	}
	return nil
}

// The two services of git's smart HTTP.
const (
	ServiceUploadPack  = "git-upload-pack"
	ServiceReceivePack = "git-receive-pack"
)

// ProtocolVersion reads a Git-Protocol header: the highest version from 0 to 2
// that it names. All else in it is ignored, and never reaches a process.
func ProtocolVersion(header string) int {
	version := 0
	for key := range strings.SplitSeq(header, ":") {
		if v, ok := strings.CutPrefix(key, "version="); ok && len(v) == 1 && v[0] >= '0' && v[0] <= '2' {
			version = max(version, int(v[0]-'0'))
		}
	}
	return version
}

// agent is how the server names itself; capabilities must hold no spaces.
const agent = "agent=arbor"

// fetchCapabilities are those of `upload-pack` of git 2.39, as
// this package configures it.
const fetchCapabilities = "multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since " +
	"deepen-not deepen-relative no-progress include-tag multi_ack_detailed allow-tip-sha1-in-want " +
	"allow-reachable-sha1-in-want"

// pushCapabilities are those that ReadPushRequest and WriteReport understand.
const pushCapabilities = "report-status report-status-v2 delete-refs side-band-64k quiet atomic " +
	"ofs-delta push-options object-format=sha1 " + agent

// WriteAdvertisement answers info/refs?service=... of smart HTTP: the refs in
// protocol 0 and 1, the capabilities alone in protocol 2 (which pushes do not
// have: they get protocol 0), with more of them if given. service is one of the
// two Service constants.
func WriteAdvertisement(w io.Writer, service string, protocol int, refs Refs, more ...string) error {
	if protocol == 2 && service == ServiceUploadPack {
		return writeCapabilities(w, more)
	}
	return writeRefLists(w, service, protocol, refs, false)
}

// WriteGreeting is WriteAdvertisement on a connection that stays open, as over SSH.
func WriteGreeting(w io.Writer, service string, protocol int, refs Refs, more ...string) error {
	if protocol == 2 && service == ServiceUploadPack {
		return writeCapabilities(w, more)
	}
	return writeRefLists(w, service, protocol, refs, true)
}

// writeCapabilities writes the advertisement of protocol 2.
func writeCapabilities(w io.Writer, more []string) error {
	var out []byte
	for _, line := range append([]string{"version 2", agent, "ls-refs=unborn",
		"fetch=shallow wait-for-done filter", "server-option", "object-format=sha1"}, more...) {
		out = AppendPkt(out, line+"\n")
	}
	_, err := w.Write(append(out, FlushPkt...))
	return err
}

// writeRefLists writes the advertisement of protocol 0 and 1.
func writeRefLists(w io.Writer, service string, protocol int, refs Refs, connected bool) error {
	out := bufio.NewWriterSize(w, 64<<10)
	capabilities := fetchCapabilities
	if !connected {
		capabilities += " no-done" // only where each request stands alone
		_, _ = out.Write(AppendPkt(nil, "# service="+service+"\n"))
		_, _ = out.WriteString(FlushPkt)
	}
	if protocol == 1 {
		_, _ = out.Write(AppendPkt(nil, "version 1\n"))
	}
	if service == ServiceReceivePack {
		writeRefs(out, refs.List, pushCapabilities)
	} else {
		writeFetchRefs(out, refs, capabilities)
	}
	_, _ = out.WriteString(FlushPkt)
	return out.Flush()
}

// writeFetchRefs puts HEAD first, and says in the capabilities what it names.
func writeFetchRefs(out *bufio.Writer, refs Refs, capabilities string) {
	// The list is everybody's and may be long: it is not copied for HEAD.
	first := refs.List[:0:0]
	if head := refs.headRef(); head != nil {
		capabilities += " symref=HEAD:" + refs.Head
		first = []Ref{{Name: "HEAD", SHA: head.SHA}}
	}
	capabilities = "\x00" + capabilities + " filter object-format=sha1 " + agent
	line := make([]byte, 0, 256)
	// An empty repository is advertised by nothing at all, as by git.
	for _, list := range [][]Ref{first, refs.List} {
		for _, ref := range list {
			line = append(append(append(line[:0], ref.SHA...), ' '), ref.Name...)
			line = append(line, capabilities...)
			capabilities = "" // the first line has them
			writeLine(out, append(line, '\n'))
			if ref.Peeled != "" {
				line = append(append(append(line[:0], ref.Peeled...), ' '), ref.Name...)
				writeLine(out, append(line, "^{}\n"...))
			}
		}
	}
}

// writeRefs writes refs for a push, which does not care about peeled tags.
func writeRefs(out *bufio.Writer, list []Ref, capabilities string) {
	if len(list) == 0 {
		list = []Ref{{Name: "capabilities^{}", SHA: object.ZeroSHA}}
	}
	line := make([]byte, 0, 256)
	for i, ref := range list {
		line = append(append(append(line[:0], ref.SHA...), ' '), ref.Name...)
		if i == 0 {
			line = append(append(line, 0), capabilities...)
		}
		writeLine(out, append(line, '\n'))
	}
}

// writeLine writes a pkt-line without building it elsewhere first.
func writeLine(out *bufio.Writer, line []byte) {
	var length [4]byte
	_, _ = out.Write(appendPktLength(length[:0], len(line)))
	_, _ = out.Write(line)
}

// WriteError sends a git client the reason of a refusal in git's protocol.
func WriteError(w io.Writer, message string) error {
	_, err := w.Write(AppendPkt(nil, "ERR "+oneLine(message)+"\n"))
	return err
}
