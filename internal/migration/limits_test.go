package migration

import (
	"testing"

	"arbor/internal/forge"
	"arbor/internal/lfs"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/test/testkit"
)

// An import that a user asked for brings no file that the server would not take from the user.
func TestMayHave(t *testing.T) {
	t.Parallel()
	s := &Service{Forge: &forge.Forge{LFS: &lfs.Service{MaxObject: 10}, Releases: &release.Service{MaxAsset: 20}}}
	asked, command := &importer{s: s, o: ImportOptions{Into: &repo.Access{}}}, &importer{s: s}
	for _, c := range []struct {
		r  Record
		ok bool
	}{
		{&LFSObject{File: File{Size: 10}}, true}, {&LFSObject{File: File{Size: 11}}, false},
		{&Asset{File: File{Size: 20}}, true}, {&Asset{File: File{Size: 21}}, false}, {&Attachment{File: File{Size: 99}}, true},
	} {
		if err := asked.mayHave(c.r); (err == nil) != c.ok {
			t.Errorf("a %T of %d bytes: %v", c.r, fileOf(c.r).Size, err)
		}
		testkit.NoError(t, command.mayHave(c.r))
	}
	s.LFS.MaxObject = 0
	if asked.mayHave(&LFSObject{File: File{Size: 1}}) == nil {
		t.Error("a server without Git LFS takes an object")
	}
}

// A release gets no more files by such an import than by people, whichever of them came before.
func TestCountAssets(t *testing.T) {
	t.Parallel()
	asked := &importer{o: ImportOptions{Into: &repo.Access{}}, assets: map[string]int{}}
	command := &importer{assets: map[string]int{}}
	var list []*row
	for n := range release.MaxAssets + 2 {
		r := &row{Record: &Asset{Release: "a"}}
		if n < 5 {
			r.earlierID = 1
		}
		list = append(list, r)
	}
	list = append(list, &row{Record: &Asset{Release: "b"}})
	command.countAssets(list)
	if n := len(newRows(list)); n != len(list)-5 {
		t.Errorf("the command brings %d of %d", n, len(list))
	}
	asked.countAssets(list[:600])
	asked.countAssets(list[600:])
	if n := len(newRows(list)); n != release.MaxAssets-5+1 || list[len(list)-1].refusal != nil {
		t.Errorf("%d files come", n)
	}
}
