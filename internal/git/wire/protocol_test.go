package wire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/test/testkit"
)

func TestProtocolVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "version=2": 2, "version=1": 1, "x:version=2:y": 2,
		"version=3":  0,
		"version=22": 0, "version=2\nx": 0, "version=": 0} {
		if got := ProtocolVersion(in); got != want {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func TestPktLimits(t *testing.T) {
	t.Parallel()
	longest := AppendPkt(nil, strings.Repeat("x", MaxPktData))
	if !bytes.HasPrefix(longest, []byte("fff0")) {
		t.Errorf("the longest line begins %q", longest[:4])
	}
	kind, data, err := NewPktReader(bytes.NewReader(longest)).Next()
	if kind != PktData || len(data) != MaxPktData || err != nil {
		t.Errorf("the longest line: %v, %d bytes, %v", kind, len(data), err)
	}
	for in, want := range map[string]error{"": io.EOF, "00": io.ErrUnexpectedEOF, "0005": io.ErrUnexpectedEOF,
		"0006x": io.ErrUnexpectedEOF} {
		if _, _, err := NewPktReader(strings.NewReader(in)).Next(); !errors.Is(err, want) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for _, in := range []string{"0003", "fff1", "ffff", "xyz0", "-001", " 004"} {
		if _, _, err := NewPktReader(strings.NewReader(in + strings.Repeat("x", 70000))).Next(); !errs.Is(err,
			errs.Malformed) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for in, want := range map[string]PktKind{"0000": PktFlush, "0001": PktDelim, "0002": PktResponseEnd,
		"0004": PktData} {
		if kind, data, err := NewPktReader(strings.NewReader(in)).Next(); kind != want ||
			len(data) != 0 || err != nil {
			t.Errorf("%q: %v, %q, %v", in, kind, data, err)
		}
	}
}

func FuzzPktLine(f *testing.F) {
	f.Add([]byte("0006a\n0000"))
	f.Add([]byte("000100020004fff0"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewPktReader(bytes.NewReader(in))
		var out []byte
		for {
			kind, data, err := r.Next()
			if err != nil {
				break
			}
			if kind == PktData {
				out = AppendPkt(out, data)
			} else {
				out = append(out, []string{FlushPkt, delimPkt, responseEndPkt}[kind-PktFlush]...)
			}
		}
		if !strings.EqualFold(string(out), string(in[:len(out)])) &&
			!bytes.Equal(bytes.ToLower(out), bytes.ToLower(in[:len(out)])) {
			t.Errorf("read %q and wrote %q", in, out)
		}
	})
}

// request creates a push's commands, with capabilities on the first.
func request(capabilities string, lines ...string) string {
	var b []byte
	for i, line := range lines {
		if i == 0 && capabilities != "" {
			line += "\x00" + capabilities
		}
		b = AppendPkt(b, line)
	}
	return string(b) + FlushPkt
}

func TestReadPushRequest(t *testing.T) {
	t.Parallel()
	a, b, z := strings.Repeat("a1", 20), strings.Repeat("b2", 20), string(object.ZeroSHA)
	in := request(" report-status-v2 side-band-64k atomic quiet push-options object-format=sha1 agent=git/2 unknown",
		z+" "+a+" refs/heads/x", a+" "+b+" refs/heads/y\n", b+" "+z+" refs/heads/z") +
		string(AppendPkt(nil, "k=v")) + string(AppendPkt(nil, "w\n")) + "0000PACK..."
	p, pack, err := ReadPushRequest(strings.NewReader(in), 3)
	testkit.NoError(t, err)
	want := []Command{{"refs/heads/x", object.ZeroSHA, object.SHA(a)},
		{"refs/heads/y", object.SHA(a), object.SHA(b)}, {"refs/heads/z", object.SHA(b), object.ZeroSHA}}
	if !reflect.DeepEqual(p.Commands, want) || !reflect.DeepEqual(p.Options, []string{"k=v", "w"}) {
		t.Errorf("got %+v", p)
	}
	if c := p.Capabilities; !c.ReportStatusV2 || !c.SideBand64k || !c.Atomic || !c.Quiet || c.ReportStatus ||
		c.Agent != "git/2" {
		t.Errorf("got %+v", c)
	}
	if rest, err := io.ReadAll(pack); err != nil || string(rest) != "PACK..." {
		t.Errorf("the pack begins %q, %v", rest, err)
	}
	if p, _, err := ReadPushRequest(strings.NewReader("0000"), 3); err != nil || len(p.Commands) != 0 ||
		p.HasPack() {
		t.Errorf("git's probe: %+v, %v", p, err)
	}
	shallow := string(AppendPkt(nil, "shallow "+a)) + request("", z+" "+a+" refs/heads/x")
	if p, _, err := ReadPushRequest(strings.NewReader(shallow), 3); err != nil || len(p.Shallow) != 1 ||
		!p.HasPack() {
		t.Errorf("shallow: %+v, %v", p, err)
	}
	ok := z + " " + a + " refs/heads/"
	for name, c := range map[string]struct {
		in   string
		kind errs.Kind
	}{
		"too many":       {request("", ok+"a", ok+"b", ok+"c", ok+"d"), errs.TooLarge},
		"twice":          {request("", ok+"a", ok+"a"), errs.Malformed},
		"no flush":       {strings.TrimSuffix(request("", ok+"a"), "0000"), errs.Malformed},
		"nothing":        {"", errs.Malformed},
		"no name":        {request("", z+" "+a+" "), errs.Malformed},
		"short sha":      {request("", z[1:]+" "+a+" refs/heads/aa"), errs.Malformed},
		"delim":          {"0001", errs.Malformed},
		"sha256":         {request("object-format=sha256", ok+"a"), errs.Malformed},
		"certificate":    {request("", "push-cert\x00"), errs.Malformed},
		"NUL later":      {request("", ok+"a", ok+"b\x00atomic"), errs.Malformed},
		"long name":      {request("", ok+strings.Repeat("x", 2000)), errs.Malformed},
		"newline":        {request("", ok+"a\nb"), errs.Malformed},
		"options no end": {request("push-options", ok+"a"), errs.Malformed},
		"many options":   {request("push-options", ok+"a") + strings.Repeat("0005x", 100) + "0000", errs.TooLarge},
	} {
		if p, _, err := ReadPushRequest(strings.NewReader(c.in), 3); !errs.Is(err, c.kind) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func FuzzReadPushRequest(f *testing.F) {
	a, z := strings.Repeat("a1", 20), string(object.ZeroSHA)
	f.Add([]byte(request("report-status side-band-64k push-options",
		z+" "+a+" refs/heads/x") + "0005x0000PACK"))
	f.Add([]byte("0035shallow " + a + "0000"))
	f.Add([]byte("0000"))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, pack, err := ReadPushRequest(bytes.NewReader(in), 10)
		if err != nil {
			if k := errs.KindOf(err); k != errs.Malformed && k != errs.TooLarge {
				t.Errorf("kind %d: %v", k, err)
			}
			return
		}
		if pack == nil || len(p.Commands) > 10 || len(p.Options) > maxPushOptions {
			t.Errorf("out of bounds: %+v", p)
		}
		for _, c := range p.Commands {
			if !c.New.Valid() || !c.Old.Valid() || c.Name == "" || strings.ContainsAny(c.Name, "\n\x00") {
				t.Errorf("bad command %+v", c)
			}
		}
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	report := Report{Refs: []RefResult{{Name: "refs/heads/a"}, {Name: "refs/heads/b", Error: "no\nway"}}}
	const plain = "000eunpack ok\n0014ok refs/heads/a\n001bng refs/heads/b no way\n0000"
	for _, c := range []struct {
		capabilities Capabilities
		want         string
	}{
		{Capabilities{}, ""},
		{Capabilities{ReportStatus: true}, plain},
		{Capabilities{ReportStatusV2: true, SideBand64k: true},
			string(AppendPkt(nil, "\x01"+plain)) + "0000"},
		{Capabilities{SideBand64k: true}, "0000"},
	} {
		var b strings.Builder
		if err := WriteReport(&b, nil, c.capabilities, report); err != nil || b.String() != c.want {
			t.Errorf("%+v: %q, %v", c.capabilities, b.String(), err)
		}
	}
}

func TestSidebandSplits(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := NewSideband(&b, nil)
	long := strings.Repeat("x", 2*maxBandData+5)
	if n, err := s.Band(BandProgress).Write([]byte(long)); n != len(long) || err != nil {
		t.Error(n, err)
	}
	_ = s.Close()
	r, got := NewPktReader(&b), ""
	for {
		kind, data, err := r.Next()
		testkit.NoError(t, err)
		if kind == PktFlush {
			break
		}
		if data[0] != byte(BandProgress) {
			t.Errorf("band %d", data[0])
		}
		got += string(data[1:])
	}
	if got != long {
		t.Errorf("%d bytes became %d", len(long), len(got))
	}
}

func TestLsRefs(t *testing.T) {
	t.Parallel()
	a, b := object.SHA(strings.Repeat("a1", 20)), object.SHA(strings.Repeat("b2", 20))
	refs := Refs{Head: "refs/heads/main",
		List: []Ref{{Name: "refs/heads/main", SHA: a}, {Name: "refs/heads/x", SHA: a},
			{Name: "refs/tags/v1", SHA: b, Peeled: a}}}
	ask := func(args ...string) string {
		in := AppendPkt(AppendPkt(nil, "command=ls-refs\n"), "object-format=sha1")
		in = append(in, delimPkt...)
		for _, arg := range args {
			in = AppendPkt(in, arg+"\n")
		}
		request, err := ReadLsRefs(strings.NewReader(string(in) + FlushPkt))
		testkit.NoError(t, err)
		var out strings.Builder
		testkit.NoError(t, WriteLsRefs(&out, request, refs))
		var lines []string
		for r := NewPktReader(strings.NewReader(out.String())); ; {
			kind, line, err := r.Next()
			if err != nil || kind == PktFlush {
				return strings.Join(lines, "")
			}
			lines = append(lines, string(line))
		}
	}
	all := ask("peel", "symrefs", "unborn")
	want := string(a) + " HEAD symref-target:refs/heads/main\n" + string(a) + " refs/heads/main\n" +
		string(a) + " refs/heads/x\n" + string(b) + " refs/tags/v1 peeled:" + string(a) + "\n"
	if all != want {
		t.Errorf("got\n%s want\n%s", all, want)
	}
	if got := ask("ref-prefix refs/heads/x", "ref-prefix refs/heads/xy", "ref-prefix refs/tags/",
		"ref-prefix refs/tags/v"); got !=
		string(a)+" refs/heads/x\n"+string(b)+" refs/tags/v1\n" {
		t.Errorf("got %q", got)
	}
	refs.Head = "refs/heads/none"
	if got := ask("symrefs", "unborn",
		"ref-prefix HEAD"); got != "unborn HEAD symref-target:refs/heads/none\n" {
		t.Errorf("got %q", got)
	}
	if got := ask("symrefs", "ref-prefix HEAD"); got != "" {
		t.Errorf("got %q", got)
	}
	for _, in := range []string{"", "0000", "0012command=fetch0000", "0014command=ls-refs",
		"0014command=ls-refs0001", "0014command=ls-refs0002", "0014command=ls-refs0001000cunknown0000",
		"0014command=ls-refs0019object-format=sha256" + "0000", "0014command=ls-refs00010001"} {
		if got, err := ReadLsRefs(strings.NewReader(in)); !errs.Is(err, errs.Malformed) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func FuzzLsRefs(f *testing.F) {
	f.Add("0014command=ls-refs\n00010009peel\n000csymrefs\n001bref-prefix refs/heads/\n0000",
		"refs/heads/main")
	f.Add("0014command=ls-refs0000", "HEAD")
	f.Fuzz(func(t *testing.T, in, name string) {
		request, err := ReadLsRefs(strings.NewReader(in))
		if err != nil {
			if !errs.Is(err, errs.Malformed) {
				t.Error(err)
			}
			return
		}
		want := len(request.Prefixes) == 0
		for _, p := range request.Prefixes {
			want = want || strings.HasPrefix(name, p)
		}
		if got := prefixMatcher(request.Prefixes)(name); got != want {
			t.Errorf("%q with prefixes %q: %v", name, request.Prefixes, got)
		}
	})
}
