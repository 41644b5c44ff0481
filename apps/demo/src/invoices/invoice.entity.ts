import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity()
export class Invoice {
  /** Such as `A-1003`. */
  @PrimaryColumn()
  number!: string;

  /** The id of the user whose invoice it is. */
  @Column()
  owner!: string;

  @Column()
  customer!: string;

  /** `YYYY-MM-DD`. */
  @Column()
  issuedOn!: string;

  /** `YYYY-MM-DD`. */
  @Column()
  dueOn!: string;

  /** In cents. */
  @Column()
  amount!: number;

  @Column()
  isPaid!: boolean;
}
