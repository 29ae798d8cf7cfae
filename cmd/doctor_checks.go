package cmd

import (
	"fmt"
	"time"
)

// needs is what a load needs of the machine.
type needs struct {
	plan    string // "" without a plan
	threads int
}

// usualThreads stands for a plan where none is given: enough for most.
const usualThreads = 1000

// facts are what the machine says of itself; a field that is zero is not known.
type facts struct {
	filesSoft, filesHard uint64
	portsLow, portsHigh  int
	backlog              int
	cpus                 int
	quota                float64 // CPUs that the cgroup allows
	governor             string
	steal                float64 // share of the time that others took
	clockSource          string
	late, lateWorst      time.Duration // median and 99th percentile of how late a wait ends
	memory               uint64        // bytes that may still be used
}

const (
	memoryBase      = 64 << 20 // of the program
	memoryPerThread = 16 << 10 // of a thread with its connection
)

// diagnose judges the facts by the needs.
func diagnose(f facts, n needs) []finding {
	var out []finding
	for _, check := range []func(facts, needs) finding{
		checkFiles, checkPorts, checkBacklog, checkCPUs, checkGovernor, checkSteal, checkClock, checkWaits, checkMemory,
	} {
		if found := check(f, n); found.Name != "" {
			out = append(out, found)
		}
	}
	return out
}

// wanted says what needs so much.
func (n needs) wanted() string {
	if n.plan == "" {
		return fmt.Sprintf("%d threads", n.threads)
	}
	return fmt.Sprintf("%s with its %s", n.plan, countThreads(n.threads))
}

func countThreads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// short is the state of something that is too low: without a plan it only warns.
func (n needs) short() string {
	if n.plan == "" {
		return "warn"
	}
	return "fail"
}

func checkFiles(f facts, n needs) finding {
	if f.filesHard == 0 {
		return finding{}
	}
	out := finding{Name: "open files", State: "ok", Found: fmt.Sprintf("soft limit %d, hard limit %d", f.filesSoft, f.filesHard)}
	need := uint64(n.threads) + reserve
	switch {
	case need > f.filesHard:
		out.State = n.short()
		out.Why = fmt.Sprintf("%s may open %d files, one a connection; beyond the limit samples fail with local_resource", n.wanted(), need)
		out.Do = []string{
			fmt.Sprintf("sudo sh -c 'ulimit -n %d && exec su %s'", need, "$USER"),
			fmt.Sprintf("docker run --ulimit nofile=%d:%d …", need, need),
		}
	case need > f.filesSoft:
		out.Why = "runner raises the soft limit to the hard one when it starts"
	}
	return out
}

func checkPorts(f facts, n needs) finding {
	if f.portsHigh == 0 {
		return finding{}
	}
	ports := f.portsHigh - f.portsLow + 1
	out := finding{Name: "ports", State: "ok", Found: fmt.Sprintf("%d to %d: %d connections to one address at a time", f.portsLow, f.portsHigh, ports)}
	switch {
	case n.threads > ports:
		out.State = n.short()
		out.Why = n.wanted() + " may need more at once; beyond them samples fail with local_resource"
	case n.threads > ports*8/10:
		out.State = "warn"
		out.Why = n.wanted() + " may need nearly all of them, and closed connections hold theirs for a minute"
	}
	if out.State != "ok" && (f.portsLow > 1024 || f.portsHigh < 65535) {
		out.Do = []string{`sudo sysctl -w net.ipv4.ip_local_port_range="1024 65535"`}
	} else if out.State != "ok" {
		out.Do = []string{"runner exec plan.yaml --segment 1/2"}
	}
	return out
}

func checkBacklog(f facts, n needs) finding {
	if f.backlog == 0 {
		return finding{}
	}
	out := finding{Name: "listen queue", State: "ok", Found: fmt.Sprintf("somaxconn %d", f.backlog)}
	if n.threads > f.backlog && f.backlog < 1024 {
		out.State = "warn"
		out.Why = "counts only if the target runs on this machine: it may refuse threads that connect at the same moment"
		out.Do = []string{"sudo sysctl -w net.core.somaxconn=4096"}
	}
	return out
}

func checkCPUs(f facts, _ needs) finding {
	out := finding{Name: "CPUs", State: "ok", Found: fmt.Sprint(f.cpus)}
	if f.quota > 0 {
		out.Found += fmt.Sprintf(", of which the control group allows %.2g", f.quota)
	}
	switch {
	case f.quota > 0 && f.quota < 1:
		out.State = "warn"
		out.Why = "a part of a CPU is taken away for moments: samples leave late in them"
		out.Do = []string{"docker run --cpus 2 …"}
	case f.cpus == 1:
		out.State = "warn"
		out.Why = "the load and everything else on this machine share one CPU"
	}
	return out
}

func checkGovernor(f facts, _ needs) finding {
	out := finding{Name: "CPU governor", State: "ok", Found: f.governor}
	switch f.governor {
	case "":
		return finding{}
	case "powersave", "ondemand", "conservative":
		out.State = "warn"
		out.Why = "the CPU slows down when it is idle: times of a light load are too long"
		out.Do = []string{"sudo cpupower frequency-set -g performance"}
	}
	return out
}

func checkSteal(f facts, _ needs) finding {
	out := finding{Name: "steal", State: "ok", Found: fmt.Sprintf("%.1f %% of the CPU time", f.steal*100)}
	if f.steal > 0.02 {
		out.State = "warn"
		out.Why = "other guests of this host take CPU time: samples leave late; use a machine of your own"
	}
	return out
}

func checkClock(f facts, _ needs) finding {
	out := finding{Name: "clock", State: "ok", Found: f.clockSource}
	switch f.clockSource {
	case "":
		return finding{}
	case "hpet", "acpi_pm", "jiffies", "xen", "refined-jiffies":
		out.State = "warn"
		out.Why = "reading this clock is slow, and it is read several times a sample"
		out.Do = []string{"echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"}
	}
	return out
}

func checkWaits(f facts, _ needs) finding {
	out := finding{Name: "waits", State: "ok", Found: fmt.Sprintf("%v late at the median, %v in the worst of a hundred",
		f.late.Round(time.Microsecond), f.lateWorst.Round(time.Microsecond))}
	switch {
	case f.late > 10*time.Millisecond:
		out.State = "fail"
		out.Why = "nothing leaves when it is due: the machine is overloaded"
	case f.late > 250*time.Microsecond || f.lateWorst > 5*time.Millisecond:
		out.State = "warn"
		out.Why = "the machine is busy: samples leave late; see what else runs"
		out.Do = []string{"top"}
	}
	return out
}

func checkMemory(f facts, n needs) finding {
	if f.memory == 0 {
		return finding{}
	}
	need := uint64(memoryBase + n.threads*memoryPerThread)
	out := finding{Name: "memory", State: "ok", Found: fmt.Sprintf("%s free; %s: about %s", mebibytes(f.memory), n.wanted(), mebibytes(need))}
	switch {
	case need > f.memory:
		out.State = n.short()
		out.Why = "the system may end the run; lower the threads or use several machines"
		out.Do = []string{"runner exec plan.yaml --segment 1/2"}
	case need > f.memory/2:
		out.State = "warn"
		out.Why = "large responses may use up the rest"
	}
	return out
}

func mebibytes(n uint64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
