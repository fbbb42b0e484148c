package wire

import (
	"io"
	"strings"
)

// RefResult says what became of one command of a push.
type RefResult struct {
	Name  string
	Error string // why it was refused, in a few words; empty when it was done
}

// Report is the answer to a push.
type Report struct {
	Unpack string // why the pack was refused, in a few words; empty when it was not
	Refs   []RefResult
}

// WriteReport answers a push in git's own protocol, in the form that the
// client asked for: nothing without report-status, in band 1 of a sideband
// with side-band-64k. bands is needed in that case only: it may have carried
// progress before, and is closed here.
func WriteReport(w io.Writer, bands *Sideband, c Capabilities, report Report) error {
	var buf []byte
	if c.ReportStatus || c.ReportStatusV2 {
		buf = report.append(buf)
	}
	if !c.SideBand64k {
		_, err := w.Write(buf)
		return err
	}
	if bands == nil {
		bands = NewSideband(w, nil)
	}
	if _, err := bands.Write(BandData, buf); err != nil {
		return err
	}
	return bands.Close()
}

// append renders the report. Both versions of report-status share this form:
// version 2 adds lines only if a ref was updated differently than requested.
func (r Report) append(buf []byte) []byte {
	if r.Unpack == "" {
		buf = AppendPkt(buf, "unpack ok\n")
	} else {
		buf = AppendPkt(buf, "unpack "+oneLine(r.Unpack)+"\n")
	}
	for _, ref := range r.Refs {
		if ref.Error == "" {
			buf = AppendPkt(buf, "ok "+ref.Name+"\n")
		} else {
			buf = AppendPkt(buf, "ng "+ref.Name+" "+oneLine(ref.Error)+"\n")
		}
	}
	return append(buf, FlushPkt...)
}

// oneLine keeps a reason within its line.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	if len(s) > 1000 {
		s = s[:1000]
	}
	return s
}
