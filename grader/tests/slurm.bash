# Sourced by tests that need a cluster: a Slurm of three nodes on this machine, of Debian's packages, in a folder of its own.
# shellcheck shell=bash

# What keeps this machine from being one; empty: nothing.
no_cluster() {
    local program
    for program in munged munge slurmctld slurmd sbatch squeue sinfo scontrol; do
        PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "needs slurm-wlm and munge"; return; }
    done
    [ "$(id -u)" = 0 ] || echo "needs root, for three slurmd with a user each of theirs"
}

# start_cluster FOLDER: SLURM_CONF says where it is. The folder is root's.
start_cluster() {
    cluster=$1
    local host port node
    host=$(hostname)
    port=$((20000 + $$ % 20000))
    PATH=$PATH:/usr/sbin
    mkdir -p "$cluster"/{state,spool,log,run}
    if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
        [ -s /etc/munge/munge.key ] || { dd if=/dev/urandom bs=1 count=1024 of=/etc/munge/munge.key 2>/dev/null && chown munge:munge /etc/munge/munge.key && chmod 400 /etc/munge/munge.key; }
        mkdir -p /run/munge
        chown munge:munge /run/munge
        chmod 755 /run/munge
        setpriv --reuid=munge --regid=munge --init-groups munged --pid-file="/run/munge/munged.pid" || return 1
        own_munge=yes
        for _ in 1 2 3 4 5 6 7 8 9 10; do munge -n 2>/dev/null | unmunge >/dev/null 2>&1 && break; sleep 0.3; done
    fi
    # A node that is silent for 6 s is down; its tasks begin again when its credentials are too old, 5 s later.
    cat >"$cluster/slurm.conf" <<CONF
ClusterName=gradelab
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=5
CryptoType=crypto/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/run/slurmctld.pid
SlurmdPidFile=$cluster/run/slurmd-%n.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
GresTypes=gpu
SlurmdParameters=config_overrides
SlurmctldTimeout=30
SlurmdTimeout=6
KillWait=2
MinJobAge=30
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$cluster/log/jobcomp.txt
NodeName=n[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 2))-$((port + 4))] CPUs=1 RealMemory=4000 Gres=gpu:1 State=UNKNOWN
PartitionName=lab Nodes=n[1-3] Default=YES MaxTime=00:30:00 State=UP DefMemPerCPU=500
CONF
    printf 'AutoDetect=off\nNodeName=n[1-3] Name=gpu File=/dev/null\n' >"$cluster/gres.conf"
    echo 'CgroupPlugin=cgroup/v1' >"$cluster/cgroup.conf"
    export SLURM_CONF=$cluster/slurm.conf
    slurmctld -f "$SLURM_CONF" 2>>"$cluster/log/start.log" || return 1
    for node in n1 n2 n3; do start_node $node || return 1; done
    for _ in $(seq 40); do
        [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = 3 ] && return 0
        sleep 0.5
    done
    return 1
}

start_node() { mkdir -p "$cluster/spool/$1"; slurmd -N "$1" -f "$SLURM_CONF" 2>>"$cluster/log/start.log"; }

# descendants PID: it and all that came of it
descendants() {
    local child
    for child in $(pgrep -P "$1"); do descendants "$child"; done
    echo "$1"
}

# kill_node NODE: as if somebody had pulled its plug
kill_node() {
    local daemon step
    daemon=$(cat "$cluster/run/slurmd-$1.pid")
    kill -9 "$daemon"
    # Steps have left the daemon's family, and write to its log.
    for step in $(pgrep slurmstepd); do
        if find "/proc/$step/fd" -lname "$cluster/log/slurmd-$1.log" 2>/dev/null | grep -q .; then
            # shellcheck disable=SC2046 # process ids
            kill -9 $(descendants "$step") 2>/dev/null
        fi
    done
    rm -f "$cluster/run/slurmd-$1.pid"
}

stop_cluster() {
    local node
    scancel -u root 2>/dev/null
    for node in n1 n2 n3; do [ ! -e "$cluster/run/slurmd-$node.pid" ] || kill "$(cat "$cluster/run/slurmd-$node.pid")" 2>/dev/null; done
    [ ! -e "$cluster/run/slurmctld.pid" ] || kill "$(cat "$cluster/run/slurmctld.pid")" 2>/dev/null
    [ "${own_munge:-}" != yes ] || kill "$(cat /run/munge/munged.pid)" 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$cluster/run/slurmctld.pid" ] || break; sleep 0.3; done
}
