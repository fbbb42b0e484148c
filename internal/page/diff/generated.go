package diff

import (
	"path"
	"strings"
)

// generated reports whether a program writes the file, so that people rarely read its changes.
func generated(name string) bool {
	base := path.Base(name)
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "deno.lock",
		"Cargo.lock",
		"composer.lock", "Gemfile.lock", "Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock",
		"flake.lock", "go.sum",
		"mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "gradle.lockfile":
		return true
	}
	for _, end := range [...]string{".min.js", ".min.css", ".js.map", ".css.map", ".pb.go", ".pb.cc", ".pb.h",
		"_pb2.py",
		"_pb2_grpc.py", "_generated.go", ".designer.cs"} {
		if strings.HasSuffix(strings.ToLower(base), end) {
			return true
		}
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if dir == "node_modules" || dir == "vendor" {
			return true
		}
	}
	return false
}
