package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// identity tells a process from every other that has its id at another time.
type identity struct {
	pid   int
	start string // in ticks since boot, as /proc has it
	boot  string
}

// stat is what the lab reads of /proc/PID/stat; proc(5) numbers the fields.
type stat struct {
	pid     int
	state   string // field 3
	session int    // field 6
	start   string // field 22
}

// parseStat reads one line of /proc/PID/stat. The name in parentheses may hold blanks and parentheses itself.
func parseStat(line string) (stat, error) {
	head, rest := strings.Index(line, " ("), strings.LastIndex(line, ") ")
	if head < 0 || rest < head {
		return stat{}, errors.New("not a line of /proc/PID/stat")
	}
	fields := strings.Fields(line[rest+2:])
	if len(fields) < 20 {
		return stat{}, errors.New("not a line of /proc/PID/stat")
	}
	pid, err := strconv.Atoi(line[:head])
	if err != nil {
		return stat{}, fmt.Errorf("read a process id: %w", err)
	}
	session, err := strconv.Atoi(fields[3])
	if err != nil {
		return stat{}, fmt.Errorf("read a session id: %w", err)
	}
	return stat{pid: pid, state: fields[0], session: session, start: fields[19]}, nil
}

// readStat returns what Linux says of a process that exists.
func readStat(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(content))
}

// ended says that the process is only there until its parent asks for its result.
func (s stat) ended() bool { return s.state == "Z" || s.state == "X" }

// identity reads a daemon's note.
func (f Folder) identity(name string) (identity, error) {
	content, err := os.ReadFile(f.note(name))
	if err != nil {
		return identity{}, err
	}
	line, boot, _ := strings.Cut(string(content), "\n")
	noted, err := parseStat(line)
	if err != nil || noted.pid <= 1 {
		return identity{}, fmt.Errorf("the note %s names no process", f.note(name))
	}
	return identity{pid: noted.pid, start: noted.start, boot: strings.TrimSpace(boot)}, nil
}

// bootID names the time since this machine was booted: process ids and start times count from there.
func bootID() string {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// Running reports whether the daemon's first process is there: that one, not another that got its id since.
func (f Folder) Running(name string) bool {
	noted, err := f.identity(name)
	if err != nil || noted.boot != bootID() {
		return false
	}
	now, err := readStat(noted.pid)
	return err == nil && now.start == noted.start && !now.ended()
}

// Processes returns the ids of all processes of the daemon's session. Where the first one is gone and the others
// stayed, only those count that work in this folder: the session's number may be another's by now.
func (f Folder) Processes(name string) []int {
	noted, err := f.identity(name)
	if err != nil || noted.boot != bootID() {
		return nil
	}
	first, err := readStat(noted.pid)
	sure := err == nil && first.start == noted.start
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if now, err := readStat(pid); err != nil || now.session != noted.pid || now.ended() {
			continue
		}
		if sure || f.worksHere(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// worksHere reports whether the working directory of a process is in this folder.
func (f Folder) worksHere(pid int) bool {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return false
	}
	own, err := filepath.EvalSymlinks(f.dir)
	return err == nil && strings.HasPrefix(dir, own+string(filepath.Separator))
}

// Memory returns the bytes that the daemon's processes use, what they share with others counted in part (PSS).
func (f Folder) Memory(name string) int64 {
	var sum int64
	for _, pid := range f.Processes(name) {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has just ended, or belongs to another user
		}
		for line := range strings.Lines(string(content)) {
			var kilobytes int64
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &kilobytes); err == nil {
				sum += kilobytes * 1024
			}
		}
	}
	return sum
}
