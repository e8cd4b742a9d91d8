package launch

import "golang.org/x/sys/unix"

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// processes lists the machine's processes from sysctl kern.proc.all. One that ends during the look is left out.
func processes() ([]process, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(infos))
	for _, info := range infos {
		pid := int(info.Proc.P_pid)
		sid, err := unix.Getsid(pid)
		if err != nil {
			continue
		}
		all = append(all, process{
			pid: pid, parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid), session: sid,
			foreground: int(info.Eproc.Tpgid), ended: info.Proc.P_stat == zombie,
		})
	}
	return all, nil
}
