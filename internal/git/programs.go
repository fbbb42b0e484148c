package git

// programs are all that git's configuration can make it run. None runs: each is
// one that fails, or nothing where that switches it off.
func programs() [][2]string {
	const fails = "/bin/false"
	list := [][2]string{{"core.fsmonitor", "false"}, {"core.alternateRefsCommand", ":"}, {"credential.helper", ""}}
	for _, key := range [...]string{
		"core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "sequence.editor",
		"diff.external", "interactive.diffFilter", "gpg.program", "gpg.openpgp.program", "gpg.x509.program",
		"gpg.ssh.program", "gpg.ssh.defaultKeyCommand",
	} {
		list = append(list, [2]string{key, fails})
	}
	return list
}

// filters are what a partial clone may leave out: blobs, all or large ones, and
// trees below a depth. A sparse:oid is a file of patterns, each of which git
// matches with each path, and combinations may hold one.
func filters() [][2]string {
	return [][2]string{
		{"uploadpack.allowFilter", "true"}, {"uploadpackfilter.allow", "false"},
		{"uploadpackfilter.blob:none.allow", "true"}, {"uploadpackfilter.blob:limit.allow", "true"},
		{"uploadpackfilter.tree.allow", "true"},
	}
}
