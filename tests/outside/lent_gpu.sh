#!/usr/bin/env bash
# Train on a lent machine with a GPU and no network, which takes 64 MiB at a time and sends back 8 files of 16 MiB. Four steps, from
# the root of the project; 3 follows 2 at once, before the machine is given back:
#   1 here   lent_gpu.sh pack CORPUS       the texts go to .gpu/text (git-ignored), the weights to .gpu/weights
#   2 there  lent_gpu.sh receive           carrying .gpu/text: reads the texts, goes on after the call
#   3 here   lent_gpu.sh unpack            the weights are back in their place
#   4 there  lent_gpu.sh train 8.5 [OPTIONS OF train.py]   $OUT: the model in parts, log.jsonl, scores.txt
set -euo pipefail
recipe=$(cd "$(dirname "$0")/../../assets/models/bert-l6-h384-uncased/recipe" && pwd)
held=${HELD:-/tmp/held} # a folder on that machine that outlives a call
old=$held/text/corpus every=$held/text/everyday
texts=(--text "0.55:$old" --text "0.2:$every/everyday-documents.txt.xz" --text "0.2:$every/everyday-singles.txt.xz"
  --text "0.03:$recipe/facts.txt" --text "0.02:$recipe/stories.txt" --heldout "$old/heldout.txt.xz" --cache "$held/tokens")
run() { PYTHONUNBUFFERED=1 python3 "$recipe/$1" "${@:2}"; }
case $1 in
  pack)
    mkdir -p .gpu/text/corpus .gpu/weights && cp "$2"/*.txt.xz .gpu/text/corpus && cp -r "$2/everyday" .gpu/text
    mv "$recipe/../model.safetensors" .gpu/weights ;;
  unpack) mv .gpu/weights/model.safetensors "$recipe/.." ;;
  receive)
    mkdir -p "$held" && cp -r .gpu/text "$held" && nvidia-smi -L || true
    setsid nohup bash -c "$(declare -f run); recipe=$recipe; run train.py ${texts[*]} --init none --steps 0 --out $held/none" \
      > "$held/receive.log" 2>&1 & ;;
  train)
    while pgrep -f "$held/none" > /dev/null; do sleep 1; done
    run train.py "${texts[@]}" --minutes "$2" --workers "${WORKERS:-14}" --dropout 0.1 --parts --out "$OUT" "${@:3}"
    cat "$OUT"/model/model.safetensors.* > "$held/new.safetensors" && mkdir -p "$held/new" && mv "$held/new.safetensors" "$held/new/model.safetensors"
    cp "$OUT"/model/*.json "$held/new"
    run evaluate.py "$recipe/.." "$held/new" --heldout "$old/heldout.txt.xz" "$every"/everyday-heldout-*.txt.xz | tee "$OUT/scores.txt" ;;
esac
