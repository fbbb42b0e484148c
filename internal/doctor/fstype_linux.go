package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

var kinds = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC:     "tmpfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.FUSE_SUPER_MAGIC: "fuse",
	unix.SMB2_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.CEPH_SUPER_MAGIC: "ceph",
	0x2fc12fc1:            "zfs",
	unix.F2FS_SUPER_MAGIC: "f2fs",
}

// fileSystem is the kind of the file system that a folder is on, and its bytes.
func fileSystem(dir string) (kind string, free, all uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", 0, 0, err
	}
	kind = kinds[s.Type]
	if kind == "" {
		kind = fmt.Sprintf("file system %#x", uint32(s.Type))
	}
	return kind, s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
