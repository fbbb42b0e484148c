package repos_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// packed is an entry of a pack: an object of a kind, or a delta (kind 7) upon base.
type packed struct {
	kind byte
	base string
	data []byte
}

const packedDelta = 7

// packOf builds a pack that git might not create.
func packOf(entries ...packed) []byte {
	var out bytes.Buffer
	out.WriteString("PACK\x00\x00\x00\x02")
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(entries))))
	for _, e := range entries {
		size := len(e.data)
		head := []byte{e.kind<<4 | byte(size&15)}
		for size >>= 4; size > 0; size >>= 7 {
			head[len(head)-1] |= 0x80
			head = append(head, byte(size&0x7f))
		}
		out.Write(head)
		base, _ := hex.DecodeString(e.base)
		out.Write(base)
		z := zlib.NewWriter(&out)
		_, _ = z.Write(e.data)
		_ = z.Close()
	}
	sum := sha1.Sum(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}

// copyOne is a delta: one byte of a base of a size.
func copyOne(size, at int) []byte {
	return append(binary.AppendUvarint(nil, uint64(size)), 1, 0x80|0x01|0x10, byte(at), 1)
}

func tagOf(sha string, kind git.Type) packed {
	data := fmt.Appendf(nil, "object %s\ntype %s\ntag t\ntagger x <x@x> 1 +0000\n\nm\n", sha, kind)
	return packed{kind: 4, data: data}
}

func nameOf(kind git.Type, data []byte) string {
	return string(git.NewObject{Type: kind, Data: data}.SHA())
}

// The answer to a push tells nothing of objects that are hidden from its sender: neither
// their bytes, from which a delta could make objects, nor whether they are stored.
func TestPushesTellNothingOfHiddenObjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := published(t, s)
		gittest.Run(t, p.dir, "checkout", "-q", "-b", "lines", p.tip)
		_, _, lines := gittest.CommitFile(t, p.dir, "lines.txt",
			strings.Repeat("too long for a line of attributes ", 100))
		gittest.Run(t, p.dir, "push", "-q", "origin", "lines")
		gittest.Run(t, p.dir, "push", "-q", "origin", ":lines")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "eve", Status: 202})
		size := map[string]int{}
		for _, sha := range []string{p.blob, p.tree, p.commit} {
			size[sha], _ = strconv.Atoi(gittest.Run(t, p.dir, "cat-file", "-s", sha))
		}
		noise := make([]byte, 300<<10)
		for i := range noise {
			noise[i] = byte(rand.Uint32())
		}
		more := [][]packed{nil, {{kind: 3, data: noise}}} // packs that are held whole, and longer ones
		for _, big := range more {
			// Eve asks for the first byte: a tag of the pack names the blob that it would be.
			push := func(tip packed, others ...packed) string {
				return pushPacked(t, s, tip, append(append([]packed{tip}, others...), big...))
			}
			guess := func(b byte) string {
				made := nameOf(git.TypeBlob, []byte{b})
				return push(tagOf(made, git.TypeBlob), packed{packedDelta, p.blob, copyOne(size[p.blob], 0)})
			}
			same(t, "a byte of a blob", guess('t'), guess('x'))
			named := func(file, sha string) string {
				raw, _ := hex.DecodeString(sha)
				tree := packed{kind: 2, data: append([]byte("100644 "+file+"\x00"), raw...)}
				return push(tagOf(nameOf(git.TypeTree, tree.data), git.TypeTree), tree)
			}
			absent := nameOf(git.TypeBlob, []byte(lines))
			same(t, "attributes that git refuses", named(".gitattributes", lines),
				named(".gitattributes", absent))
			for kind, sha := range map[git.Type]string{
				git.TypeBlob: p.blob, git.TypeTree: p.tree, git.TypeCommit: p.commit,
			} {
				other := nameOf(git.TypeBlob, []byte(sha))
				sent := packed{kind: 3, data: []byte("sent")}
				tip := tagOf(nameOf(git.TypeBlob, sent.data), git.TypeBlob)
				of := func(base string) string {
					return push(tip, sent, packed{packedDelta, base, copyOne(size[sha], 0)})
				}
				same(t, "a byte of a "+string(kind), of(sha), of(other))
				same(t, "a tag of a "+string(kind), push(tagOf(sha, kind)), push(tagOf(other, kind)))
				same(t, "a file that is a "+string(kind), named(".gitmodules", sha),
					named(".gitmodules", other))
			}
		}
	})
}

// same checks that two answers differ in the names of objects and refs at most.
func same(t *testing.T, what, stored, absent string) {
	t.Helper()
	if stored != absent || !strings.Contains(stored, "missing necessary objects") {
		t.Errorf("%s: of an object that is stored and hidden the answer is\n%q\nand else\n%q",
			what, stored, absent)
	}
}

// pushPacked has eve push a tag to her fork.
func pushPacked(t *testing.T, s *apitest.Server, tip packed, pack []packed) string {
	t.Helper()
	name := nameOf(git.TypeTag, tip.data)
	command := string(git.ZeroSHA) + " " + name + " refs/tags/x\x00 report-status side-band-64k"
	body := wire.AppendPkt(nil, command)
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/eve/garden.git/git-receive-pack",
		bytes.NewReader(append(append(body, "0000"...), packOf(pack...)...)))
	testkit.NoError(t, err)
	r.SetBasicAuth("eve", s.Token(t, "eve"))
	r.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	return repoSend(t, r)
}

// Errors that do not concern hidden objects are reported as usual.
func TestPushesTellWhatIsWrongWithTheirOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		published(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "eve", Status: 202})
		bad := packed{kind: 2, data: append([]byte("100644 .git\x00"), make([]byte, 20)...)}
		tip := tagOf(nameOf(git.TypeTree, bad.data), git.TypeTree)
		if got := pushPacked(t, s, tip, []packed{tip, bad}); !strings.Contains(got, "hasDotgit") {
			t.Errorf("a tree with .git: %q", got)
		}
	})
}
