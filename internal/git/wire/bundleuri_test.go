package wire

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

func pkts(lines ...string) string {
	var out []byte
	for _, line := range lines {
		if line == FlushPkt || line == delimPkt || line == responseEndPkt {
			out = append(out, line...)
		} else {
			out = AppendPkt(out, line)
		}
	}
	return string(out)
}

// git names its capabilities before the command when it asks for bundles, and after it otherwise.
func TestPeekCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		pkts("command=ls-refs\n", "agent=git/2", FlushPkt):                       "ls-refs",
		pkts("agent=git/2\n", "object-format=sha1\n", "command=bundle-uri\n"):    BundleURI,
		pkts("session-id="+strings.Repeat("x", 8000), "command=fetch", delimPkt): "fetch",
		FlushPkt: "",
	} {
		r := bufio.NewReaderSize(strings.NewReader(in), 64<<10)
		got, err := PeekCommand(r)
		if rest := r.Buffered(); got != want || err != nil || rest != len(in) {
			t.Errorf("%.60q: %q, %v, and %d bytes of %d are left", in, got, err, rest, len(in))
		}
	}
	for _, in := range []string{"", "00", pkts("agent=git/2"), pkts("agent=git/2", FlushPkt), delimPkt, "zzzz",
		pkts("agent=git/2", delimPkt, "command=fetch"), "0004", "0020command=fetch",
		strings.Repeat(pkts("agent=git/2"), 10_000) + pkts("command=fetch")} {
		if got, err := PeekCommand(bufio.NewReaderSize(strings.NewReader(in), 64<<10)); !errs.Is(err, errs.Malformed) {
			t.Errorf("%.60q: %q, %v", in, got, err)
		}
	}
}

func TestReadBundleURI(t *testing.T) {
	t.Parallel()
	head := []string{"agent=git/2\n", "object-format=sha1\n", "command=bundle-uri\n"}
	for in, fine := range map[string]bool{
		pkts(append(head, FlushPkt)...):                       true,
		pkts(append(head, delimPkt, FlushPkt)...):             true,
		pkts(append(head, delimPkt, "filter=x", FlushPkt)...): false,
		pkts(append(head, delimPkt, delimPkt)...):             false,
		pkts(append(head, delimPkt)...):                       false,
		pkts(append(head, "unknown", FlushPkt)...):            false,
		pkts("command=ls-refs", FlushPkt):                     false,
	} {
		if err := ReadBundleURI(strings.NewReader(in)); fine && err != nil || !fine && !errs.Is(err, errs.Malformed) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// The words are those that git looks for, which are in lower case.
func TestWriteBundleURI(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	testkit.NoError(t, WriteBundleURI(&out, &Bundle{Address: "https://bucket.example/x?a=b", Token: 17}))
	want := pkts("bundle.version=1", "bundle.mode=all", "bundle.heuristic=creationToken",
		"bundle.default.uri=https://bucket.example/x?a=b", "bundle.default.creationtoken=17", FlushPkt)
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	testkit.NoError(t, WriteBundleURI(&out, nil))
	if out.String() != FlushPkt {
		t.Errorf("without a bundle: %q", out.String())
	}
}

// Only protocol 2 has capabilities that can be added, and only for fetches.
func TestAdvertisedBundleURI(t *testing.T) {
	t.Parallel()
	for _, service := range []string{ServiceUploadPack, ServiceReceivePack} {
		for protocol := range 3 {
			for name, write := range map[string]func() (string, error){
				"HTTP": func() (string, error) {
					var out bytes.Buffer
					err := WriteAdvertisement(&out, service, protocol, Refs{}, BundleURI)
					return out.String(), err
				},
				"SSH": func() (string, error) {
					var out bytes.Buffer
					err := WriteGreeting(&out, service, protocol, Refs{}, BundleURI)
					return out.String(), err
				},
			} {
				got, err := write()
				has := strings.HasSuffix(got, pkts(BundleURI+"\n", FlushPkt))
				if err != nil || has != (protocol == 2 && service == ServiceUploadPack) {
					t.Errorf("%s, %s, protocol %d: %q, %v", name, service, protocol, got, err)
				}
			}
		}
	}
}
