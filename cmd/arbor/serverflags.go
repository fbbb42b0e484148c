package main

import (
	"cmp"
	"io"
	"log/slog"
	"net"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/journal"
	"arbor/internal/server"
	"arbor/internal/signinfile"
)

// serverFlags are those that serve and demo share.
type serverFlags struct {
	mailFlags
	Listen            string        `group:"Network" help:"Listen address: HOST:PORT, or unix:PATH for a socket, whose mode follows the umask." default:"127.0.0.1:8080" placeholder:"ADDRESS"`
	AdminListen       string        `group:"Network" help:"Listen address for /metrics and, with --ephemeral, POST /admin/reset (default: none)." placeholder:"ADDRESS"`
	BaseURL           string        `name:"base-url" group:"Network" help:"Scheme and host of links in answers (default: those of the request)." placeholder:"URL"`
	RequireToken      bool          `group:"Access" help:"Require a token or a session for everything except /healthz, /readyz and signing in, and disallow cross-origin reads." negatable:""`
	Previews          string        `group:"Access" help:"Enable preview features on request (negotiated) or for everyone (graduated)." enum:"negotiated,graduated" default:"negotiated"`
	Invitations       string        `group:"Access" help:"Whether people must accept before they are collaborators or members: off adds them at once, required invites them, unless a site administrator adds them." enum:"off,required" default:"off"`
	SignInFile        string        `group:"Access" help:"YAML file of identity providers (OpenID Connect) and directories (LDAP) with which people sign in, see docs/sign-in.md (default: none)." placeholder:"FILE"`
	MaxTreeEntries    int           `group:"Limits" help:"Most entries in a tree answer before it is truncated." default:"100000" placeholder:"N"`
	RateLimit         int64         `group:"Limits" help:"Requests per hour for each token, and for each address without one, on each node (default: no limit)." placeholder:"N"`
	Memory            byteSize      `group:"Limits" help:"Memory limit for the server and its git processes together (default: three quarters of the machine's or container's)." placeholder:"SIZE"`
	TrustProxy        string        `group:"Network" help:"Comma-separated proxy networks whose X-Forwarded-* headers are trusted." placeholder:"NETWORKS"`
	MaxPackSize       byteSize      `group:"Limits" help:"Largest pack in one push." default:"4GiB" placeholder:"SIZE"`
	MaxPackObjects    int           `group:"Limits" help:"Most objects in one push." default:"10000000" placeholder:"N"`
	LFSMaxObject      freeSpace     `name:"lfs-max-object" group:"Limits" help:"Largest object of Git LFS; 0 switches Git LFS off." default:"5GiB" placeholder:"SIZE"`
	FetchCache        freeSpace     `group:"Limits" help:"Disk space for packs that concurrent fetches share; 0: they share none." default:"1GiB" placeholder:"SIZE"`
	QuotaRepos        int64         `group:"Limits" help:"Most repositories per owner without its own quota (default: no limit)." placeholder:"N"`
	QuotaBytes        byteSize      `group:"Limits" help:"Most bytes per owner without its own quota (default: no limit)." placeholder:"SIZE"`
	QuotaText         byteSize      `group:"Limits" help:"Most text in issues, comments, reviews and the like per account without its own quota (default: as --quota-bytes)." placeholder:"SIZE"`
	TextRate          *freeSpace    `group:"Limits" help:"Most text that an account may write per hour; 0: no limit (default: 64MiB; 0 for demo and --ephemeral)." placeholder:"SIZE"`
	MinFreeSpace      *freeSpace    `group:"Limits" help:"Refuse writes with 507 while a disk has less free space than this: a size, 0 for never, or auto for a hundredth of the disk, at most 1GiB (default: auto; 0 for demo and --ephemeral)." placeholder:"SIZE"`
	AllowHookNetworks string        `group:"Network" help:"Comma-separated private networks that webhooks may reach, e.g. 10.0.0.0/8,::1/128 (default: none; this machine for demo and --ephemeral)." placeholder:"NETWORKS"`
	Mirrors           bool          `group:"Network" help:"Allow pull mirrors, push mirrors and imports from other servers. They may also reach the networks of --allow-hook-networks." default:"true" negatable:""`
	MirrorInterval    time.Duration `group:"Network" help:"Shortest interval in which a mirror may check its source." default:"10m" placeholder:"DURATION"`
	LogFormat         string        `group:"Log" help:"Format of the log on standard error." enum:"text,json" default:"text"`
	LogLevel          string        `group:"Log" help:"Lowest level that is logged." enum:"debug,info,warn,error" default:"info"`
	ShutdownDelay     time.Duration `group:"Network" help:"How long to keep answering after SIGTERM while /readyz returns 503, so that balancers notice." default:"0s" placeholder:"DURATION"`
	ImageProxy        bool          `group:"Network" help:"Show images of other hosts in texts, fetched by this server from the Internet; otherwise they are links." default:"true" negatable:""`
	KeepDeleted       time.Duration `group:"Limits" help:"How long a deleted repository can be restored; 0: not at all." default:"${keepDeleted}" placeholder:"DURATION"`
	AuditDays         int           `group:"Access" help:"Days to keep the audit log; 0: forever." default:"${auditDays}" placeholder:"N"`

	signIn    *signinfile.Config // of SignInFile, made by check; nil: none
	umask     int                // with which the server was started
	ssh       net.Listener       // nil: git is not served over SSH
	networks  outgoing.Networks  // of AllowHookNetworks, made by check
	front     front              // what stands before the interface; the zero front is plain HTTP
	admission *admission.Control // made by check
}

// openLog returns the log of a server, and the function that writes its last lines before the server ends.
func (f *serverFlags) openLog(w io.Writer) (*slog.Logger, func()) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	open := journal.Text
	if f.LogFormat == "json" {
		open = journal.JSON
	}
	handler, buffer := journal.NewBuffer(w, open, level)
	return slog.New(handler), buffer.Close
}

func (f *serverFlags) gitOptions(log *slog.Logger) git.Options {
	return git.Options{Log: log, MaxPackBytes: int64(f.MaxPackSize), MaxPackObjects: f.MaxPackObjects,
		Memory: f.admission.GitMemory(), Admit: f.admission.Child}
}

// maxAuditDays is a hundred years.
const maxAuditDays = 36500

// minMemory is the least that --memory takes, in bytes.
const minMemory = 128 << 20

// admit creates the server's admission layer and sets the memory limit of Go's runtime.
func (f *serverFlags) admit() error {
	if f.Memory == 0 {
		machine := cmp.Or(admission.MachineMemory(), admission.DefaultMemory)
		f.Memory = byteSize(max(machine/4*3, minMemory))
	}
	if f.Memory < minMemory {
		return misuse("--memory must be at least 128MiB")
	}
	proxies, err := admission.ParseProxies(f.TrustProxy)
	if err != nil {
		return misuse("--trust-proxy: %v", err)
	}
	f.admission = admission.New(int64(f.Memory), proxies)
	debug.SetMemoryLimit(f.admission.GoLimit())
	return nil
}

// check refuses flags that cannot be meant, before anything is opened.
func (f *serverFlags) check() error {
	if f.MaxTreeEntries < 1 {
		return misuse("--max-tree-entries must be at least 1")
	}
	if f.MaxPackObjects < 1 {
		return misuse("--max-pack-objects must be at least 1")
	}
	if f.QuotaRepos < 0 {
		return misuse("--quota-repos must not be negative")
	}
	if f.TextRate != nil && *f.TextRate < 0 {
		return misuse("--text-rate must be a size, or 0")
	}
	if f.AuditDays < 0 || f.AuditDays > maxAuditDays {
		return misuse("--audit-days must be from 0 to %d", maxAuditDays)
	}
	if f.LFSMaxObject < 0 {
		return misuse("--lfs-max-object must be a size, or 0")
	}
	if f.FetchCache < 0 {
		return misuse("--fetch-cache must be a size, or 0")
	}
	if f.MirrorInterval < time.Minute {
		return misuse("--mirror-interval must be at least 1m")
	}
	if f.ShutdownDelay < 0 {
		return misuse("--shutdown-delay must not be negative")
	}
	if f.SignInFile != "" {
		var err error
		if f.signIn, err = signinfile.ReadFile(f.SignInFile); err != nil {
			return misuse("--sign-in-file: %v", err)
		}
	}
	if f.Listen == "" {
		return misuse("--listen must not be empty")
	}
	if f.RateLimit < 0 {
		return misuse("--rate-limit must not be negative")
	}
	if err := f.admit(); err != nil {
		return err
	}
	var err error
	if f.networks, err = outgoing.ParseNetworks(f.AllowHookNetworks); err != nil {
		return misuse("--allow-hook-networks: %v", err)
	}
	if f.BaseURL, err = checkBase(f.BaseURL); err != nil {
		return err
	}
	return f.checkMail(f.BaseURL)
}

// checkBase checks a scheme and a host, and writes them as addresses begin.
func checkBase(base string) (string, error) {
	if base == "" {
		return "", nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		strings.ContainsAny(u.Host, "\"'<>\\`") ||
		!strings.EqualFold(strings.TrimRight(base, "/"), u.Scheme+"://"+u.Host) {
		return "", misuse("--base-url must be a scheme and a host, like https://code.example.org, not %q", base)
	}
	return u.Scheme + "://" + u.Host, nil
}

// options are the server's, without its store.
func (f *serverFlags) options(log *slog.Logger) server.Options {
	var minFree, textRate freeSpace
	if f.MinFreeSpace != nil {
		minFree = *f.MinFreeSpace
	}
	if f.TextRate != nil {
		textRate = *f.TextRate
	}
	o := server.Options{
		Version:        version,
		MinFree:        int64(minFree),
		Quota:          f.quota(),
		TextRate:       int64(textRate),
		Log:            log,
		Admission:      f.admission,
		BaseURL:        f.BaseURL,
		Graduated:      f.Previews == "graduated",
		MaxTreeEntries: f.MaxTreeEntries,
		RateLimit:      f.RateLimit,
		AuditDays:      f.AuditDays,
		KeepDeleted:    f.KeepDeleted,
		LFSMaxObject:   int64(f.LFSMaxObject),
		RequireToken:   f.RequireToken,
		MustInvite:     f.Invitations == "required",
		SignIn:         f.signIn,
		Mail:           f.mail,
		AdminHost:      host(f.AdminListen),
		HookNetworks:   f.networks,
		FetchCache:     int64(f.FetchCache),
		NoMirrors:      !f.Mirrors,
		MirrorEvery:    f.MirrorInterval,
	}
	if f.ImageProxy {
		o.ImageKey = durable.NewKey()
	}
	return o
}

// quota is that of owners who have none of their own.
func (f *serverFlags) quota() (q account.Quota) {
	if f.QuotaRepos > 0 {
		q.Repos = &f.QuotaRepos
	}
	if f.QuotaBytes > 0 {
		kb := (int64(f.QuotaBytes) + 1023) / 1024
		q.KB = &kb
	}
	if f.QuotaText > 0 {
		kb := (int64(f.QuotaText) + 1023) / 1024
		q.Text = &kb
	}
	return q
}
