package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"encoding/binary"
	"path"

	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
)

// IsSpecial reports whether git checks the contents of a file at this path:
// .gitmodules and .gitattributes in any directory and in any disguise.
func IsSpecial(name string) bool { return object.SpecialFile(path.Base(name)) != "" }

// CheckSpecial checks the contents of files at special paths with git, as it does
// with a push. contents are by path. It starts one process. Error: Invalid for
// a .gitmodules or .gitattributes that `git fsck` would not let pass.
func (r *Repository) CheckSpecial(ctx context.Context, contents map[string][]byte) error {
	if err := r.Init(); err != nil {
		return err
	}
	pack := &bytes.Buffer{}
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(2*len(contents)))
	pack.Write(header)
	for name, text := range contents {
		blob := NewObject{Type: TypeBlob, Data: text}
		id := blob.ID()
		// The blob may be one of several; its own tree names it as a file.
		tree, err := object.EncodeTree([]object.Entry{{Mode: ModeFile,
			Name: []byte(path.Base(name)), ID: id[:]}})
		if err != nil {
			return err
		}
		for _, o := range []NewObject{blob, {Type: TypeTree, Data: tree}} {
			p, err := r.git.packer.Pack(o)
			if err != nil {
				return err
			}
			pack.Write(p.Bytes)
		}
	}
	sum := sha1.Sum(pack.Bytes())
	pack.Write(sum[:])
	q, err := r.newQuarantine(incomingPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = q.Discard() }()
	pack.Next(len(header))
	_, err = q.indexPack(ctx, packfile.Header(header), uint32(2*len(contents)), ReceiveOptions{Pack: pack})
	return err
}
