package process

// programs replaces all programs that git's configuration can make it run: by one that
// fails, or by the value that switches the feature off.
func programs() [][2]string {
	const fails = "/bin/false"
	list := [][2]string{
		{"core.fsmonitor", "false"}, {"core.alternateRefsCommand", ":"}, {"credential.helper", ""},
	}
	for _, key := range [...]string{
		"core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "sequence.editor",
		"diff.external", "interactive.diffFilter", "gpg.program", "gpg.openpgp.program", "gpg.x509.program",
		"gpg.ssh.program", "gpg.ssh.defaultKeyCommand",
	} {
		list = append(list, [2]string{key, fails})
	}
	return list
}

// filters allows partial clones without blobs, without large ones, and without trees below a
// depth. It forbids sparse:oid, a file of patterns that git would all match with
// each path, and combinations, which may contain one.
func filters() [][2]string {
	return [][2]string{
		{"uploadpack.allowFilter", "true"}, {"uploadpackfilter.allow", "false"},
		{"uploadpackfilter.blob:none.allow", "true"}, {"uploadpackfilter.blob:limit.allow", "true"},
		{"uploadpackfilter.tree.allow", "true"},
	}
}
