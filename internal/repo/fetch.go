package repo

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// GET /{owner}/{repo}/info/refs
//
// InfoRefs begins a fetch or a push: it advertises the refs, from SQL, or in
// protocol 2 what the server can do.
func (api *API) InfoRefs(w http.ResponseWriter, r *http.Request, a *Access) error {
	service := r.URL.Query().Get("service")
	if service != "git-upload-pack" && service != "git-receive-pack" {
		return errs.New(errs.Forbidden, "Please use a git client that speaks smart HTTP (git 1.6.6 or newer).")
	}
	protocol := protocolOf(r)
	if service == "git-receive-pack" && protocol == 2 {
		protocol = 0 // there is no version 2 of pushing
	}
	noCache(w.Header())
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	var refs []git.Ref
	if protocol != 2 {
		var err error
		if refs, err = api.s.Refs(r.Context(), a); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := git.WriteAdvertisement(out, service, protocol, refs, heads+a.DefaultBranch); err != nil {
		return err
	}
	return out.Flush()
}

// protocolOf reads the version that the client asks for, 0 when it names none
// that we know.
func protocolOf(r *http.Request) int {
	version := 0
	for key := range strings.SplitSeq(r.Header.Get("Git-Protocol"), ":") {
		switch key {
		case "version=1":
			version = max(version, 1)
		case "version=2":
			version = 2
		}
	}
	return version
}

// maxPeek is how much of a request is looked at to tell a listing of refs from
// a fetch, in bytes.
const maxPeek = 256

// POST /{owner}/{repo}/git-upload-pack
//
// UploadPack serves a fetch. A listing of refs (protocol 2) is answered from
// SQL; for the objects a process of git is started.
func (api *API) UploadPack(w http.ResponseWriter, r *http.Request, a *Access) error {
	if r.Header.Get("Content-Type") != "application/x-git-upload-pack-request" {
		return errs.New(errs.UnsupportedMedia, "this address is for git fetch")
	}
	plain, err := gitBody(w, r)
	if err != nil {
		return err
	}
	body := bufio.NewReaderSize(plain, 32<<10)
	noCache(w.Header())
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	protocol := protocolOf(r)
	if start, _ := body.Peek(maxPeek); protocol == 2 && bytes.Contains(start, []byte("command=ls-refs")) {
		return api.lsRefs(w, r, a, body)
	}
	refs, err := api.s.Refs(r.Context(), a)
	if err != nil {
		return err
	}
	free, err := slot(r.Context(), api.s.fetches)
	if err != nil {
		return err
	}
	defer free()
	objects := api.s.Git(a.ID)
	if err := api.s.writeRefs(objects, a, refs); err != nil {
		return err
	}
	out := newRollingWriter(w)
	out.controller.EnableFullDuplex()
	return objects.UploadPack(r.Context(), git.UploadOptions{Protocol: protocol, In: body, Out: out})
}

func (api *API) lsRefs(w http.ResponseWriter, r *http.Request, a *Access, body *bufio.Reader) error {
	request, err := git.ReadLsRefs(body)
	if err != nil {
		return err
	}
	refs, err := api.s.Refs(r.Context(), a)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := git.WriteLsRefs(out, request, refs, heads+a.DefaultBranch); err != nil {
		return err
	}
	return out.Flush()
}
