package imageproxy

import (
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/durable"
	"arbor/internal/errs"
)

// What is passed on as an image is one, whatever its host calls it.
func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "", "<html><svg>": "", "<svg": "", "<svg>": svg, "\ufeff <svg\nwidth='1'>": svg,
		"<?xml version='1.0'?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC 'a' 'b'>\n<svg >": svg,
		"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>":                                         "",
		"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a 'b'>]><?xml-stylesheet?><svg>":  "",
		"<!-- a --><!DOCTYPE svg [<!ENTITY a 'b'>]><!-- b --><svg>":                     "",
		"<!DOCTYPE svg SYSTEM \"><svg \" [<!ENTITY a 'b'>]><svg>":                       "",
		"<!-- a - b --><!DOCTYPE svg SYSTEM \">\"><!----><svg>":                         svg,
		"<?xml-stylesheet href='x'?><html><svg>":                                        "",
		"<script></script><svg>":                                                        "",
		"\x89PNG\r\n\x1a\n":                                                             "",
		"GIF89a\x01\x00\x01\x00\x00\x00\x00":                                            "image/gif",
		"GIF89a\xff\xff\xff\xff\x00\x00\x00":                                            "",
		"\xff\xd8\xff\xe0\x00\x10JFIF":                                                  "image/jpeg",
		"RIFF\x00\x00\x00\x00WEBPVP8 ":                                                  "image/webp",
		"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00":                                      "image/avif",
		"\x00\x00\x01\x00\x01\x00":                                                      "image/x-icon",
		"%PDF-1.7":                                                                      "",
		strings.Repeat(" ", 40_000) + "<svg>":                                           "",
	} {
		if got := kindOf([]byte(text[:min(len(text), headSize)])); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// FuzzKinds: whatever comes from another host, looking at it ends.
func FuzzKinds(f *testing.F) {
	f.Add([]byte("<svg>"))
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(_ *testing.T, head []byte) { kindOf(head) })
}

// An address of another host can lead back to this server, which then does not ask once more.
func TestOwnRequestsAreRefused(t *testing.T) {
	p := New(durable.NewKey(), nil)
	r := httptest.NewRequest("GET", p.path("http://example.com/a.png"), nil)
	r.Header.Set("User-Agent", agent)
	if err := p.Get(httptest.NewRecorder(), r); !errs.Is(err, errs.NotFound) || !strings.Contains(err.Error(), "itself") {
		t.Error(err)
	}
}
