package wire

import (
	"io"
	"strconv"
	"strings"

	"arbor/internal/errs"
)

// BundleURI is the capability and the command of protocol 2 by which a client asks for bundles.
const BundleURI = "bundle-uri"

// Bundle is a file with most of a repository's history, which a client may download before it fetches the rest.
type Bundle struct {
	Address string // of the file, for a plain GET
	Token   int64  // larger than that of earlier bundles of the repository
}

// ReadBundleURI reads a whole `command=bundle-uri` request. Error: Malformed, also for arguments: the command has
// none.
func ReadBundleURI(r io.Reader) error {
	pkts := NewPktReader(io.LimitReader(r, maxLsRefs))
	kind, err := readCapabilityLines(pkts, BundleURI)
	if err != nil || kind == PktFlush {
		return err
	}
	kind, line, err := pkts.Next()
	switch {
	case err != nil:
		return MalformedEOF(err)
	case kind == PktData:
		return errs.Newf(errs.Malformed, "bundle-uri: unexpected argument %q",
			errs.Clip(strings.TrimSuffix(string(line), "\n")))
	case kind != PktFlush:
		return errs.New(errs.Malformed, "bundle-uri: want a flush-pkt after the arguments")
	}
	return nil
}

// WriteBundleURI answers a request for bundles with a list of one; nil: of none.
func WriteBundleURI(w io.Writer, b *Bundle) error {
	var out []byte
	if b != nil {
		for _, line := range []string{"bundle.version=1", "bundle.mode=all", "bundle.heuristic=creationToken",
			"bundle.default.uri=" + b.Address,
			"bundle.default.creationtoken=" + strconv.FormatInt(b.Token, 10)} {
			out = AppendPkt(out, line)
		}
	}
	_, err := w.Write(append(out, FlushPkt...))
	return err
}
