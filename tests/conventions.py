"""Skeletons in the naming conventions of programs, capture systems and games: one body, and a table of names for each.

The names are facts of these programs; the body, its dimensions and its decoy bones are made up here.
"""

from __future__ import annotations

import linkwork as lw

# Parent and position of every role, in a T-pose that faces -y; left is +x, as in files with y up.
BODY: dict[str, tuple[str, tuple[float, float, float]]] = {
    "hips": ("", (0.0, 0.0, 0.95)),
    "spine": ("hips", (0.0, 0.0, 1.05)),
    "chest": ("spine", (0.0, 0.0, 1.25)),
    "neck": ("chest", (0.0, 0.0, 1.50)),
    "head": ("neck", (0.0, 0.0, 1.60)),
}
for side, out in (("left", 1.0), ("right", -1.0)):
    BODY |= {
        f"{side}_clavicle": ("chest", (0.03 * out, 0.0, 1.45)),
        f"{side}_shoulder": (f"{side}_clavicle", (0.18 * out, 0.0, 1.45)),
        f"{side}_elbow": (f"{side}_shoulder", (0.46 * out, 0.0, 1.45)),
        f"{side}_hand": (f"{side}_elbow", (0.72 * out, 0.0, 1.45)),
        f"{side}_hip": ("hips", (0.10 * out, 0.0, 0.92)),
        f"{side}_knee": (f"{side}_hip", (0.10 * out, 0.0, 0.50)),
        f"{side}_ankle": (f"{side}_knee", (0.10 * out, 0.0, 0.08)),
        f"{side}_toe": (f"{side}_ankle", (0.10 * out, -0.14, 0.02)),
    }
    for digit, across in (("thumb", -0.035), ("index", -0.03), ("middle", -0.01), ("ring", 0.01), ("little", 0.03)):
        start = 0.74 if digit == "thumb" else 0.81
        for k in (1, 2, 3):
            parent = f"{side}_hand" if k == 1 else f"{side}_{digit}_{k - 1}"
            ahead = 0.02 * k if digit == "thumb" else 0.0
            BODY[f"{side}_{digit}_{k}"] = (parent, ((start + 0.03 * (k - 1)) * out, across - ahead, 1.45))

ORDER = ("hips", "spine", "chest", "neck", "head")
ARM, LEG = ("clavicle", "shoulder", "elbow", "hand"), ("hip", "knee", "ankle", "toe")
DIGITS = ("thumb", "index", "middle", "ring", "little")


def named(
    trunk: str, arm: str, leg: str, side: tuple[str, str], fingers: str = "", digits: str = "", of: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return names by role from words with {s} for the side; "-" stands for a missing role.

    Args:
        trunk: Names of hips, spine, chest, neck and head.
        arm: Names of collar bone, upper arm, forearm and hand.
        leg: Names of thigh, shin, foot and toes.
        side: Replacements of {s} for left and right.
        fingers: Name of a finger's joint, with {s}, {d} and {k}.
        digits: Replacements of {d} for thumb, index, middle, ring and little.
        of: Replacements of {k} for the three joints of a finger; their numbers by default.
    """
    names = dict(zip(ORDER, trunk.split(), strict=True))
    for word, text in zip(("left", "right"), side, strict=True):
        for part, name in (*zip(ARM, arm.split(), strict=True), *zip(LEG, leg.split(), strict=True)):
            names[f"{word}_{part}"] = name.replace("{s}", text).replace("~", " ")
        for digit, name in zip(DIGITS, digits.split(), strict=bool(digits)):
            for k in (1, 2, 3):
                joint = of[k - 1] if of else str(k)
                names[f"{word}_{digit}_{k}"] = fingers.format(s=text, d=name, k=joint).replace("~", " ")
    return {role: name.replace("~", " ") for role, name in names.items() if name != "-"}


CAPITALS, LETTERS, SMALL = ("Left", "Right"), ("L", "R"), ("l", "r")
CONVENTIONS: dict[str, dict[str, str]] = {
    "Mixamo": named(
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine2 mixamorig:Neck mixamorig:Head",
        "mixamorig:{s}Shoulder mixamorig:{s}Arm mixamorig:{s}ForeArm mixamorig:{s}Hand",
        "mixamorig:{s}UpLeg mixamorig:{s}Leg mixamorig:{s}Foot mixamorig:{s}ToeBase",
        CAPITALS,
        "mixamorig:{s}Hand{d}{k}",
        "Thumb Index Middle Ring Pinky",
    ),
    "Ready Player Me, LAFAN, HumanIK": named(
        "Hips Spine Spine2 Neck Head",
        "{s}Shoulder {s}Arm {s}ForeArm {s}Hand",
        "{s}UpLeg {s}Leg {s}Foot {s}ToeBase",
        CAPITALS,
        "{s}Hand{d}{k}",
        "Thumb Index Middle Ring Pinky",
    ),
    "VRoid": named(
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Neck J_Bip_C_Head",
        "J_Bip_{s}_Shoulder J_Bip_{s}_UpperArm J_Bip_{s}_LowerArm J_Bip_{s}_Hand",
        "J_Bip_{s}_UpperLeg J_Bip_{s}_LowerLeg J_Bip_{s}_Foot J_Bip_{s}_ToeBase",
        LETTERS,
        "J_Bip_{s}_{d}{k}",
        "Thumb Index Middle Ring Little",
    ),
    "VRM": named(
        "hips spine chest neck head",
        "{s}Shoulder {s}UpperArm {s}LowerArm {s}Hand",
        "{s}UpperLeg {s}LowerLeg {s}Foot {s}Toes",
        ("left", "right"),
        "{s}{d}{k}",
        "Thumb Index Middle Ring Little",
        ("Proximal", "Intermediate", "Distal"),
    ),
    "Unreal": named(
        "pelvis spine_01 spine_03 neck_01 head",
        "clavicle_{s} upperarm_{s} lowerarm_{s} hand_{s}",
        "thigh_{s} calf_{s} foot_{s} ball_{s}",
        SMALL,
        "{d}_0{k}_{s}",
        "thumb index middle ring pinky",
    ),
    "Unity": named(
        "Hips Spine UpperChest Neck Head",
        "{s}Shoulder {s}UpperArm {s}LowerArm {s}Hand",
        "{s}UpperLeg {s}LowerLeg {s}Foot {s}Toes",
        CAPITALS,
    ),
    "Rigify": named(
        "DEF-spine DEF-spine.001 DEF-spine.003 DEF-spine.004 DEF-spine.006",
        "DEF-shoulder.{s} DEF-upper_arm.{s} DEF-forearm.{s} DEF-hand.{s}",
        "DEF-thigh.{s} DEF-shin.{s} DEF-foot.{s} DEF-toe.{s}",
        LETTERS,
        "DEF-{d}.0{k}.{s}",
        "thumb f_index f_middle f_ring f_pinky",
    ),
    "Daz": named(
        "hip abdomenLower chestLower neckLower head",
        "{s}Collar {s}ShldrBend {s}ForearmBend {s}Hand",
        "{s}ThighBend {s}Shin {s}Foot {s}Toe",
        SMALL,
        "{s}{d}{k}",
        "Thumb Index Mid Ring Pinky",
    ),
    "Poser, cgspeed": named(
        "hip abdomen chest neck head", "{s}Collar {s}Shldr {s}ForeArm {s}Hand", "{s}Thigh {s}Shin {s}Foot {s}Toe", SMALL
    ),
    "CMU's ASF": named(
        "root lowerback thorax lowerneck head",
        "{s}clavicle {s}humerus {s}radius {s}wrist",
        "{s}femur {s}tibia {s}foot {s}toes",
        SMALL,
    ),
    "Rokoko": named(
        "Hips Spine1 Spine4 Neck Head",
        "{s}Shoulder {s}Arm {s}ForeArm {s}Hand",
        "{s}Thigh {s}Shin {s}Foot {s}Toe",
        CAPITALS,
        "{s}Finger{d}{k}",
        "1 2 3 4 5",
        ("Proximal", "Medial", "Distal"),
    ),
    "Xsens": named(
        "Pelvis L5 T8 Neck Head",
        "{s}Shoulder {s}UpperArm {s}ForeArm {s}Hand",
        "{s}UpperLeg {s}LowerLeg {s}Foot {s}Toe",
        CAPITALS,
    ),
    "Xsens, BVH": named(
        "Hips Chest Chest4 Neck Head",
        "{s}Collar {s}Shoulder {s}Elbow {s}Wrist",
        "{s}Hip {s}Knee {s}Ankle {s}Toe",
        CAPITALS,
    ),
    "OptiTrack": named(
        "Hip Ab Chest Neck Head", "{s}Shoulder {s}UArm {s}FArm {s}Hand", "{s}Thigh {s}Shin {s}Foot {s}Toe", LETTERS
    ),
    "3ds Max Biped": named(
        "Bip01~Pelvis Bip01~Spine Bip01~Spine2 Bip01~Neck Bip01~Head",
        "Bip01~{s}~Clavicle Bip01~{s}~UpperArm Bip01~{s}~Forearm Bip01~{s}~Hand",
        "Bip01~{s}~Thigh Bip01~{s}~Calf Bip01~{s}~Foot Bip01~{s}~Toe0",
        LETTERS,
        "Bip01~{s}~Finger{d}{k}",
        "0 1 2 3 4",
        ("", "1", "2"),
    ),
    "MikuMikuDance": named(
        "下半身 上半身 上半身2 首 頭",
        "{s}肩 {s}腕 {s}ひじ {s}手首",
        "{s}足 {s}ひざ {s}足首 {s}つま先",
        ("左", "右"),
        "{s}{d}{k}",
        "親指 人指 中指 薬指 小指",
        ("１", "２", "３"),
    ),
    "SMPL": named(
        "Pelvis Spine1 Spine3 Neck Head",
        "{s}_Collar {s}_Shoulder {s}_Elbow {s}_Wrist",
        "{s}_Hip {s}_Knee {s}_Ankle {s}_Foot",
        LETTERS,
    ),
    "SMPL-X, AMASS": named(
        "pelvis spine1 spine3 neck head",
        "{s}_collar {s}_shoulder {s}_elbow {s}_wrist",
        "{s}_hip {s}_knee {s}_ankle {s}_foot",
        ("left", "right"),
        "{s}_{d}{k}",
        "thumb index middle ring pinky",
    ),
    "SMPL in MuJoCo": named(
        "Pelvis Torso Chest Neck Head",
        "{s}_Thorax {s}_Shoulder {s}_Elbow {s}_Wrist",
        "{s}_Hip {s}_Knee {s}_Ankle {s}_Toe",
        LETTERS,
    ),
    "Kinect": named(
        "SpineBase SpineMid SpineShoulder Neck Head",
        "- Shoulder{s} Elbow{s} Wrist{s}",
        "Hip{s} Knee{s} Ankle{s} Foot{s}",
        CAPITALS,
    ),
    "Azure Kinect": named(
        "PELVIS SPINE_NAVEL SPINE_CHEST NECK HEAD",
        "CLAVICLE_{s} SHOULDER_{s} ELBOW_{s} WRIST_{s}",
        "HIP_{s} KNEE_{s} ANKLE_{s} FOOT_{s}",
        ("LEFT", "RIGHT"),
    ),
    "OpenPose": named(
        "MidHip - Spine Neck Head", "- {s}Shoulder {s}Elbow {s}Wrist", "{s}Hip {s}Knee {s}Ankle {s}BigToe", LETTERS
    ),
    "Bandai-Namco": named(
        "Hips Spine Chest Neck Head",
        "Shoulder_{s} UpperArm_{s} LowerArm_{s} Hand_{s}",
        "UpperLeg_{s} LowerLeg_{s} Foot_{s} Toes_{s}",
        LETTERS,
    ),
    "Character Creator": named(
        "CC_Base_Hip CC_Base_Waist CC_Base_Spine02 CC_Base_NeckTwist01 CC_Base_Head",
        "CC_Base_{s}_Clavicle CC_Base_{s}_Upperarm CC_Base_{s}_Forearm CC_Base_{s}_Hand",
        "CC_Base_{s}_Thigh CC_Base_{s}_Calf CC_Base_{s}_Foot CC_Base_{s}_ToeBase",
        LETTERS,
        "CC_Base_{s}_{d}{k}",
        "Thumb Index Mid Ring Pinky",
    ),
    "MakeHuman": named(
        "root spine05 spine02 neck01 head",
        "clavicle.{s} upperarm01.{s} lowerarm01.{s} wrist.{s}",
        "upperleg01.{s} lowerleg01.{s} foot.{s} toe1-1.{s}",
        LETTERS,
        "finger{d}-{k}.{s}",
        "1 2 3 4 5",
    ),
    "Advanced Skeleton": named(
        "Root_M Spine1_M Chest_M Neck_M Head_M",
        "Scapula_{s} Shoulder_{s} Elbow_{s} Wrist_{s}",
        "Hip_{s} Knee_{s} Ankle_{s} Toes_{s}",
        LETTERS,
        "{d}Finger{k}_{s}",
        "Thumb Index Middle Ring Pinky",
    ),
    "Source": named(
        "bip_pelvis bip_spine_0 bip_spine_3 bip_neck bip_head",
        "bip_collar_{s} bip_upperArm_{s} bip_lowerArm_{s} bip_hand_{s}",
        "bip_hip_{s} bip_knee_{s} bip_foot_{s} bip_toe_{s}",
        LETTERS,
        "bip_{d}_{k}_{s}",
        "thumb index middle ring pinky",
        ("0", "1", "2"),
    ),
    "KayKit": named(
        "hips spine chest - head",
        "- upperarm.{s} lowerarm.{s} wrist.{s}",
        "upperleg.{s} lowerleg.{s} foot.{s} toes.{s}",
        SMALL,
    ),
    "Auto-Rig Pro": named(
        "root.x spine_01.x spine_02.x neck.x head.x",
        "shoulder.{s} arm_stretch.{s} forearm_stretch.{s} hand.{s}",
        "thigh_stretch.{s} leg_stretch.{s} foot.{s} toes_01.{s}",
        SMALL,
    ),
    "Roblox R15": named(
        "LowerTorso - UpperTorso - Head",
        "- {s}UpperArm {s}LowerArm {s}Hand",
        "{s}UpperLeg {s}LowerLeg {s}Foot -",
        CAPITALS,
    ),
}

# Decoys, further nodes of rigs: name, the role of the parent ("" is above the hips), position in the world, and whether
# it moves.
DECOYS: dict[str, tuple[tuple[str, str, tuple[float, float, float], bool], ...]] = {
    "KayKit": tuple(
        decoy
        for s, x, side in (("l", 1.0, "left"), ("r", -1.0, "right"))
        for decoy in (
            (f"Knight_Arm{side.title()}", "", (0.0, 0.0, 0.0), False),
            (f"Knight_Leg{side.title()}", "", (0.0, 0.0, 0.0), False),
            (f"hand.{s}", f"{side}_hand", (0.8 * x, 0.0, 1.45), True),
            (f"handslot.{s}", f"{side}_hand", (0.85 * x, 0.0, 1.40), True),
            (f"kneeIK.{s}", "", (0.1 * x, -0.6, 0.5), True),
            (f"control-foot-roll.{s}", "", (0.1 * x, -0.14, 0.02), True),
            (f"IK-foot.{s}", "", (0.1 * x, 0.0, 0.08), True),
            (f"IK-toe.{s}", "", (0.1 * x, 0.1, 0.02), True),
            (f"elbowIK.{s}", "", (0.46 * x, 0.6, 1.45), True),
            (f"handIK.{s}", "", (0.72 * x, 0.0, 1.45), True),
        )
    ),
    "Unreal": tuple(
        decoy
        for s, x, side in (("l", 1.0, "left"), ("r", -1.0, "right"))
        for decoy in (
            (f"ik_foot_{s}", "", (0.1 * x, 0.0, 0.08), True),
            (f"ik_hand_{s}", "", (0.72 * x, 0.0, 1.45), True),
            (f"upperarm_twist_01_{s}", f"{side}_shoulder", (0.25 * x, 0.0, 1.45), True),
            (f"lowerarm_twist_01_{s}", f"{side}_elbow", (0.62 * x, 0.0, 1.45), True),
            (f"thigh_twist_01_{s}", f"{side}_hip", (0.1 * x, 0.0, 0.8), True),
            (f"calf_twist_01_{s}", f"{side}_knee", (0.1 * x, 0.0, 0.2), True),
        )
    ),
    "Rigify": tuple(
        decoy
        for s, x in (("L", 1.0), ("R", -1.0))
        for decoy in (
            (f"ORG-upper_arm.{s}", "", (0.18 * x, 0.0, 1.45), True),
            (f"MCH-forearm.{s}", "", (0.46 * x, 0.0, 1.45), True),
            (f"upper_arm_fk.{s}", "", (0.18 * x, 0.0, 1.45), True),
            (f"hand_ik.{s}", "", (0.72 * x, 0.0, 1.45), True),
            (f"thigh_parent.{s}", "", (0.1 * x, 0.0, 0.92), True),
            (f"foot.{s}", "", (0.1 * x, 0.0, 0.08), True),
        )
    ),
    "MikuMikuDance": tuple(
        decoy
        for s, x, side in (("左", 1.0, "left"), ("右", -1.0, "right"))
        for decoy in (
            (f"{s}足ＩＫ", "", (0.1 * x, 0.0, 0.08), True),
            (f"{s}つま先ＩＫ", "", (0.1 * x, -0.14, 0.02), True),
            (f"{s}足D", "hips", (0.1 * x, 0.0, 0.92), True),
            (f"{s}腕捩", f"{side}_shoulder", (0.32 * x, 0.0, 1.45), True),
        )
    ),
}


# Twist bones in the chain, parents of the bone below: name, role of the parent, position, role below.
INSIDE = {
    "Daz": tuple(
        bone
        for s, x, side in (("l", 1.0, "left"), ("r", -1.0, "right"))
        for bone in (
            (f"{s}ShldrTwist", f"{side}_shoulder", (0.30 * x, 0.0, 1.45), f"{side}_elbow"),
            (f"{s}ForearmTwist", f"{side}_elbow", (0.60 * x, 0.0, 1.45), f"{side}_hand"),
            (f"{s}ThighTwist", f"{side}_hip", (0.10 * x, 0.0, 0.70), f"{side}_knee"),
        )
    )
}


def body_of(convention: str) -> lw.Linkage:
    """Return a body of ball joints with the link names of a convention, its twist bones and decoys."""
    names = CONVENTIONS[convention]
    b = lw.Builder(convention, base="Armature", root=lw.Fixed())
    place = {"": (0.0, 0.0, 0.0)}
    links = {"": "Armature"}
    for role, (above, at) in BODY.items():
        if role not in names:
            continue
        while above and above not in names:
            above = BODY[above][0]
        for name, upper, there, lower in INSIDE.get(convention, ()):
            if lower == role:
                b.joint(name, name, lw.Ball(), parent=links[upper], at=step_from(place[upper], there))
                links[upper], place[upper] = name, there
        kind = lw.Floating() if role == "hips" else lw.Ball()
        b.joint(names[role], names[role], kind, parent=links[above], at=step_from(place[above], at))
        place[role], links[role] = at, names[role]
    for name, above, at, moves in DECOYS.get(convention, ()):
        kind = lw.Fixed() if not moves else lw.Ball() if above else lw.Floating()
        b.joint(name, name, kind, parent=links[above], at=step_from(place[above], at))
    return b.build()


def step_from(place: tuple[float, float, float], to: tuple[float, float, float]) -> tuple[float, ...]:
    """Return the vector from one position to another."""
    return tuple(y - x for x, y in zip(place, to, strict=True))
